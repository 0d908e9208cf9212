/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/httprequest.h"

#include <string.h>

#include <glib.h>

/* The digits of a chunk's size. */
#define DIGITS_MAX 8
/* Memory for lines that is kept for the next request. */
#define LINE_KEPT 1024

/* What is to come next. Those from STEP_FIRST to STEP_TRAILER are lines. */
enum step {
	STEP_FIRST, /* of the head */
	STEP_HEADER,
	STEP_CHUNK,     /* its size */
	STEP_CHUNK_END, /* an empty line */
	STEP_TRAILER,
	STEP_BODY_BEGINS,
	STEP_BODY,
	STEP_CHUNK_DATA,
	STEP_WHOLE,
	STEP_BAD
};

static void refuse(struct httprequest *request, int status, const char *why)
{
	request->step = STEP_BAD;
	request->status = status;
	request->why = why;
	request->head.close = true;
	buffer_free(&request->line);
	buffer_free(&request->body);
}

/* Lines */

static void take_head_line(struct httprequest *request, const char *line, size_t size)
{
	int status;

	if (request->step == STEP_FIRST && !size) /* some clients end a body with a line that is none of it */
		return;
	status = size ? httphead_take(&request->head, line, size) : httphead_finish(&request->head);
	if (status)
		refuse(request, status, request->head.why);
	else
		request->step = size ? STEP_HEADER : STEP_BODY_BEGINS;
}

/* Behind the size there may be an extension, which means nothing to us. */
static void take_chunk_line(struct httprequest *request, const char *line, size_t size)
{
	size_t digits = 0;

	request->left = 0;
	for (; digits < size && digits < DIGITS_MAX && g_ascii_isxdigit(line[digits]); digits++)
		request->left = request->left * 16 + (uint64_t)g_ascii_xdigit_value(line[digits]);
	if (!digits || (digits < size && !strchr("; \t", line[digits])))
		refuse(request, 400, "a chunk of its body has no size");
	else if (request->left > request->most - request->taken)
		refuse(request, 413, "its body is too large");
	else
		request->step = request->left ? STEP_CHUNK_DATA : STEP_TRAILER;
}

static void take_trailer(struct httprequest *request, const char *line, size_t size)
{
	if (!size)
		request->step = STEP_WHOLE;
	else if (!httphead_is_header(line, size))
		refuse(request, 400, "a line behind its body is no header");
}

static bool has_controls(const char *line, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if ((unsigned char)line[i] < ' ' && line[i] != '\t')
			return true;
	return false;
}

static void take_line(struct httprequest *request, const char *line, size_t size)
{
	if (request->step != STEP_FIRST && has_controls(line, size))
		refuse(request, 400, "a control character is in its lines");
	else if (request->step <= STEP_HEADER)
		take_head_line(request, line, size);
	else if (request->step == STEP_CHUNK)
		take_chunk_line(request, line, size);
	else if (request->step == STEP_TRAILER)
		take_trailer(request, line, size);
	else if (size)
		refuse(request, 400, "a chunk of its body is not as long as it says");
	else
		request->step = STEP_CHUNK;
}

/* Lines between chunks come with each of them; what counts for them is how long one is. */
static bool is_between(const struct httprequest *request)
{
	return request->step == STEP_CHUNK || request->step == STEP_CHUNK_END;
}

static bool is_too_long(const struct httprequest *request, size_t more)
{
	return more > HTTPREQUEST_HEAD_MAX - (is_between(request) ? request->line.size : request->lines);
}

/* What begins a connection in another way than HTTP/1 should be told before a line has come that never does.
 */
static bool is_foreign(const struct httprequest *request)
{
	return request->step == STEP_FIRST && request->line.size && !g_ascii_isalpha(request->line.data[0]) &&
	       request->line.data[0] != '\r';
}

static size_t gather_line(struct httprequest *request, const uint8_t *data, size_t size)
{
	const uint8_t *end = memchr(data, '\n', size);
	size_t used = end ? (size_t)(end - data) + 1 : size, whole;

	if (is_too_long(request, used)) {
		refuse(request, 431, "its headers do not end");
		return 0;
	}
	buffer_put(&request->line, data, used);
	request->lines += is_between(request) ? 0 : used;
	whole = request->line.size;
	if (is_foreign(request))
		refuse(request, 400,
			request->line.data[0] == 0x16 ? "it speaks TLS, and this port does not"
						      : "it does not speak HTTP");
	else if (end && (whole < 2 || request->line.data[whole - 2] != '\r'))
		refuse(request, 400, "a line ends without CR");
	else if (end) {
		take_line(request, (const char *)request->line.data, whole - 2);
		request->line.size = 0;
	}
	return used;
}

/* Bodies */

static void begin_body(struct httprequest *request)
{
	request->lines = 0;
	request->left = request->head.length;
	if (request->head.chunked)
		request->step = STEP_CHUNK;
	else if (request->left > request->most)
		refuse(request, 413, "its body is too large");
	else
		request->step = request->left ? STEP_BODY : STEP_WHOLE;
}

static size_t gather_body(struct httprequest *request, const uint8_t *data, size_t size)
{
	size_t used = (size_t)MIN(size, request->left);

	if (!request->skip)
		buffer_put(&request->body, data, used);
	request->left -= used;
	request->taken += used;
	if (!request->left)
		request->step = request->step == STEP_BODY ? STEP_WHOLE : STEP_CHUNK_END;
	return used;
}

enum httprequest_state httprequest_feed(
	struct httprequest *request, const uint8_t *data, size_t size, size_t *used)
{
	*used = 0;
	if (request->step == STEP_BODY_BEGINS)
		begin_body(request);
	while (*used < size && request->step < STEP_WHOLE) {
		if (request->step <= STEP_TRAILER)
			*used += gather_line(request, data + *used, size - *used);
		else
			*used += gather_body(request, data + *used, size - *used);
		if (request->step == STEP_BODY_BEGINS)
			return HTTPREQUEST_HEAD;
	}
	if (request->step == STEP_BAD)
		return HTTPREQUEST_BAD;
	return request->step == STEP_WHOLE ? HTTPREQUEST_WHOLE : HTTPREQUEST_MORE;
}

bool httprequest_wants_continue(const struct httprequest *request)
{
	const struct httphead *head = &request->head;

	return head->expects && (head->chunked || (head->length && head->length <= request->most));
}

void httprequest_skip(struct httprequest *request)
{
	request->skip = true;
}

void httprequest_next(struct httprequest *request)
{
	struct buffer line = request->line;

	buffer_free(&request->body);
	line.size = 0;
	if (line.room > LINE_KEPT)
		buffer_free(&line);
	*request = (struct httprequest){.most = request->most, .line = line};
}

bool httprequest_is_unfinished(const struct httprequest *request)
{
	return request->line.size || (request->step != STEP_FIRST && request->step < STEP_WHOLE);
}

void httprequest_free(struct httprequest *request)
{
	buffer_free(&request->line);
	buffer_free(&request->body);
}
