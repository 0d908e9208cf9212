/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A collector's HTTP answer to a POST of spans. Everything in it is untrusted; of its body only
 * what fits in a log line is read.
 *
 *     2xx                      it took the spans, unless it says so with a web page
 *     400, 413, 422            it does not take these
 *     408, 425, 429, 5xx       not now; Retry-After is honoured; 408 also ends the connection
 *     any other                it takes nothing here: wrong path, no permission, another kind of server;
 *                              or not in this form (415; a 400 that says so of the encoding)
 */
#ifndef NET_HTTPREPLY_H
#define NET_HTTPREPLY_H

#include "net/httpmessage.h"

/* As a wire's get_reply. */
enum reply_kind httpreply_read(const uint8_t *data, size_t size, struct reply *reply);

/*
 * The same without the words, and @http without a status if there is no whole answer; and the words, which
 * end with
 * @text of @size bytes.
 */
enum reply_kind httpreply_parse(
	const uint8_t *data, size_t size, struct reply *reply, struct httpmessage *http);
void httpreply_say(
	struct reply *reply, const struct httpmessage *http, bool otlp, const uint8_t *text, size_t size);

#endif
