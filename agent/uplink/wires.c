/* SPDX-License-Identifier: BSD-2-Clause */
/* How each type of server is spoken to, for each kind of items: uplink.h. */
#include <glib.h>

#include "uplink/logs.h"
#include "uplink/uplink.h"
#include "wire/httppost.h"
#include "wire/httpreply.h"
#include "wire/otlpreply.h"
#include "wire/otlprequest.h"
#include "wire/scribe.h"
#include "wire/zipkinlist.h"

/* What Zipkin unpacks has to be in ASCII: asciijson.h. */
static enum zipkinlist_kind list_kind(enum batch_format format, bool gzipped)
{
	if (format != BATCH_ZIPKIN_JSON)
		return ZIPKINLIST_THRIFT;
	return gzipped ? ZIPKINLIST_ASCII_JSON : ZIPKINLIST_JSON;
}

struct payload *uplink_create_payload(enum batch_format format, bool gzipped)
{
	if (format == BATCH_OTLP_SPANS || format == BATCH_EVENT_OTLP)
		return otlprequest_create(g_get_host_name());
	if (format == BATCH_MESSAGES)
		return logs_of_messages(g_get_host_name());
	return zipkinlist_create(list_kind(format, gzipped));
}

static struct wire *create_scribe(const struct uplink_options *options)
{
	switch (options->kind) {
	case KIND_EVENTS:
		return scribe_create_plain(options->category);
	case KIND_MESSAGES:
		return scribe_create_messages();
	default:
		return scribe_create(options->category);
	}
}

struct wire *uplink_create_wire(const struct uplink_options *options, const struct address *address)
{
	struct httppost_options http = {.server = address,
		.path = options->path,
		.headers_file = options->headers_file,
		/* through a tunnel, the server sees no proxy */
		.proxy = options->use_tls ? NULL : options->proxy,
		.proxy_secret_file = options->proxy_secret_file,
		.compression = options->compression};
	bool gzipped = options->compression == SQUEEZE_GZIP;

	switch (options->type) {
	case UPLINK_HTTP:
		return httppost_create(
			&http, uplink_create_payload(options->format, gzipped), httpreply_read);
	case UPLINK_OTLP:
		return httppost_create(
			&http, uplink_create_payload(options->format, gzipped), otlpreply_read);
	default:
		return create_scribe(options);
	}
}
