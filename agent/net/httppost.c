/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/httppost.h"

#include <inttypes.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "core/via.h"
#include "net/httphead.h"
#include "net/httpheaders.h"
#include "net/proxy.h"

/* Digits of a Content-Length, which is known last; filled up with blanks. */
#define LENGTH_DIGITS 10
#define LENGTH_SIZE (LENGTH_DIGITS + 4)

struct httppost {
	struct wire wire;
	struct payload *payload;
	httppost_reader *read_reply;
	struct buffer head;    /* of each request, to the headers of the file */
	struct buffer headers; /* of the file, and the login at the proxy */
	char *headers_file;    /* NULL: none */
	struct proxy *proxy;   /* the same */
	struct squeeze *squeeze;
	bool tells_via;
	size_t turn; /* of the numbers that are told, as there may be more */
};

/* By way of whom it comes: an agent that takes nothing from others has nothing to tell. */
static void put_via(struct httppost *post, struct buffer *out)
{
	uint64_t via[VIA_MAX];
	size_t count = via_read(via, clock_monotonic()), others = count ? count - 1 : 0;

	if (!count)
		return;
	buffer_printf(out, HTTPHEAD_VIA ": %016" PRIx64, via[0]);
	for (size_t i = 0; i < MIN(others, HTTPHEAD_VIA_MAX - 1); i++)
		buffer_printf(out, ",%016" PRIx64, via[1 + (post->turn + i) % others]);
	buffer_put(out, "\r\n", 2);
	post->turn++;
}

static void put_call(struct wire *wire, const struct run *run, int32_t number, struct buffer *out)
{
	struct httppost *post = (struct httppost *)wire;
	struct squeeze_piece pieces[PAYLOAD_PIECES];
	size_t count = post->payload->put(post->payload, run, pieces), at;
	char length[LENGTH_SIZE + 1];

	(void)number;
	buffer_put(out, post->head.data, post->head.size);
	buffer_put(out, post->headers.data, post->headers.size);
	if (post->tells_via)
		put_via(post, out);
	buffer_put(out, "Content-Length: ", 16);
	at = out->size;
	buffer_reserve(out, LENGTH_SIZE);
	out->size += LENGTH_SIZE;
	squeeze_put(post->squeeze, pieces, count, out);
	snprintf(length, sizeof(length), "%*zu\r\n\r\n", LENGTH_DIGITS, out->size - at - LENGTH_SIZE);
	memcpy(out->data + at, length, LENGTH_SIZE);
}

static enum reply_kind get_reply(struct wire *wire, const uint8_t *data, size_t size, struct reply *reply)
{
	const struct httppost *post = (const struct httppost *)wire;

	reply->sent = post->headers_file;
	reply->by_proxy = post->proxy;
	return post->read_reply(data, size, reply);
}

/* The files may have changed. If they do not do, another connection, which is up, goes on with what they had.
 */
static bool ready(struct wire *wire, char *why, size_t size)
{
	struct httppost *post = (struct httppost *)wire;
	struct buffer headers = {0}, old = post->headers;
	bool good = (!post->headers_file || httpheaders_read(post->headers_file, &headers, why, size)) &&
		    (!post->proxy || proxy_put_login(post->proxy, &headers, why, size));

	if (good) {
		post->headers = headers;
		headers = old;
	}
	buffer_free(&headers);
	return good;
}

static void destroy(struct wire *wire)
{
	struct httppost *post = (struct httppost *)wire;

	post->payload->destroy(post->payload);
	squeeze_destroy(post->squeeze);
	buffer_free(&post->head);
	buffer_free(&post->headers);
	g_free(post->headers_file);
	proxy_free(post->proxy);
	free(post);
}

static void put_head(struct httppost *post, const struct httppost_options *options)
{
	struct address named = *options->server;
	char server[ADDRESS_TEXT], host[ADDRESS_TEXT];

	address_print(options->server, server);
	address_undot(&named);
	address_print(&named, host);
	buffer_printf(&post->head,
		"POST %s%s%s HTTP/1.1\r\nHost: %s\r\nUser-Agent: blkin-agent/%s\r\nContent-Type: "
		"application/%s\r\n",
		post->proxy ? "http://" : "", post->proxy ? server : "", options->path, host, BLKIN_VERSION,
		post->payload->content_type);
	if (squeeze_encoding(post->squeeze))
		buffer_printf(&post->head, "Content-Encoding: %s\r\n", squeeze_encoding(post->squeeze));
}

struct wire *httppost_create(
	const struct httppost_options *options, struct payload *payload, httppost_reader *read_reply)
{
	struct httppost *post = memory_get(sizeof(*post));

	post->wire = (struct wire){.put_call = put_call,
		.get_reply = get_reply,
		.ready = ready,
		.destroy = destroy,
		.careful = true,
		.early = true};
	post->payload = payload;
	post->read_reply = read_reply;
	post->tells_via = options->tells_via;
	post->squeeze = squeeze_create(options->compression);
	if (options->headers_file && *options->headers_file)
		post->headers_file = g_strdup(options->headers_file);
	post->proxy = proxy_create(options->proxy, options->proxy_secret_file);
	put_head(post, options);
	return &post->wire;
}
