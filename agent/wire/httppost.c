/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/httppost.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "wire/httpheaders.h"

/* Digits of a Content-Length, which is known last; filled up with blanks. */
#define LENGTH_DIGITS 10
#define LENGTH_SIZE (LENGTH_DIGITS + 4)

void httppost_put(struct httppost *post, const struct squeeze_piece *pieces, size_t count, struct buffer *out)
{
	char length[LENGTH_SIZE + 1];
	size_t at;

	buffer_put(out, post->head.data, post->head.size);
	buffer_put(out, post->headers.data, post->headers.size);
	buffer_put(out, "Content-Length: ", 16);
	at = out->size;
	buffer_reserve(out, LENGTH_SIZE);
	out->size += LENGTH_SIZE;
	squeeze_put(post->squeeze, pieces, count, out);
	snprintf(length, sizeof(length), "%*zu\r\n\r\n", LENGTH_DIGITS, out->size - at - LENGTH_SIZE);
	memcpy(out->data + at, length, LENGTH_SIZE);
}

bool httppost_ready(struct httppost *post, char *why, size_t size)
{
	return !post->headers_file || httpheaders_read(post->headers_file, &post->headers, why, size);
}

void httppost_init(struct httppost *post, const struct httppost_options *options)
{
	char server[ADDRESS_TEXT];

	memset(post, 0, sizeof(*post));
	post->squeeze = squeeze_create(options->compression);
	if (options->headers_file && *options->headers_file)
		post->headers_file = g_strdup(options->headers_file);
	address_print(options->server, server);
	buffer_printf(&post->head,
		"POST %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: blkin-agent/%s\r\nContent-Type: "
		"application/%s\r\n",
		options->path, server, BLKIN_VERSION, options->content_type);
	if (squeeze_encoding(post->squeeze))
		buffer_printf(&post->head, "Content-Encoding: %s\r\n", squeeze_encoding(post->squeeze));
}

void httppost_free(struct httppost *post)
{
	squeeze_destroy(post->squeeze);
	buffer_free(&post->head);
	buffer_free(&post->headers);
	g_free(post->headers_file);
}
