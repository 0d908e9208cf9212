/* SPDX-License-Identifier: BSD-2-Clause */
#include "uplink/server/posts.h"

#include <stddef.h>

#include "uplink/payloads.h"

struct wire *posts_create_wire(
	const struct uplink_options *options, const struct address *address, httppost_reader *read_reply)
{
	struct httppost_options http = {.server = address,
		.path = options->path,
		.headers_file = options->headers_file,
		/* through a tunnel, the server sees no proxy */
		.proxy = options->use_tls ? NULL : options->proxy,
		.proxy_secret_file = options->proxy_secret_file,
		.compression = options->compression};
	bool gzipped = options->compression == SQUEEZE_GZIP;

	return httppost_create(&http, payload_create(options->format, gzipped), read_reply);
}
