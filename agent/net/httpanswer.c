/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/httpanswer.h"

#include <string.h>

#include <glib.h>

static const struct {
	int status;
	const char *words;
} reasons[] = {
	{200, "OK"},
	{202, "Accepted"},
	{400, "Bad Request"},
	{404, "Not Found"},
	{405, "Method Not Allowed"},
	{408, "Request Timeout"},
	{413, "Content Too Large"},
	{415, "Unsupported Media Type"},
	{417, "Expectation Failed"},
	{429, "Too Many Requests"},
	{431, "Request Header Fields Too Large"},
	{500, "Internal Server Error"},
	{501, "Not Implemented"},
	{503, "Service Unavailable"},
	{505, "HTTP Version Not Supported"},
};

/* It may be any, or none. */
static const char *reason_of(int status)
{
	for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++)
		if (reasons[i].status == status)
			return reasons[i].words;
	return "";
}

void httpanswer_put(struct buffer *out, const struct httphead *head, const struct httpanswer *answer)
{
	buffer_printf(out, "HTTP/1.1 %d %s\r\n", answer->status, reason_of(answer->status));
	if (answer->type)
		buffer_printf(out, "Content-Type: %s\r\n", answer->type);
	buffer_printf(out, "Content-Length: %zu\r\n", answer->size);
	if (answer->retry_after)
		buffer_printf(out, "Retry-After: %u\r\n", answer->retry_after);
	if (answer->more)
		buffer_put(out, answer->more, strlen(answer->more));
	if (answer->close || head->close)
		buffer_printf(out, "Connection: close\r\n");
	else if (head->keep)
		buffer_printf(out, "Connection: keep-alive\r\n");
	buffer_put(out, "\r\n", 2);
	if (strcmp(head->method, "HEAD") != 0)
		buffer_put(out, answer->body, answer->size);
}

void httpanswer_put_continue(struct buffer *out)
{
	buffer_printf(out, "HTTP/1.1 100 Continue\r\n\r\n");
}
