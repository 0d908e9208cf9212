/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/messagejson.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/utf8.h"
#include "encode/jsontext.h"
#include "net/base64.h"

#define NS 1000000000

static void put_words(struct buffer *out, const char *words)
{
	buffer_put(out, words, strlen(words));
}

static void put_time(struct buffer *out, int64_t ns)
{
	time_t seconds = (time_t)(ns / NS);
	struct tm utc = {0};
	char text[64];

	gmtime_r(&seconds, &utc);
	strftime(text, sizeof(text), "\"%Y-%m-%dT%H:%M:%S", &utc);
	buffer_printf(out, "%s.%09dZ\"", text, (int)(ns % NS));
}

static void put_text(struct buffer *out, const uint8_t *text, uint32_t size)
{
	unsigned repaired = 0;
	char *to = (char *)buffer_reserve(out, JSONTEXT_MAX((size_t)size));

	out->size += (size_t)(jsontext_put(to, (const char *)text, size, &repaired) - to);
}

static void put_base64(struct buffer *out, const uint8_t *bytes, uint32_t size)
{
	size_t text = BASE64_SIZE((size_t)size);

	put_words(out, "\"");
	base64_encode((char *)buffer_reserve(out, text), bytes, size);
	out->size += text;
	put_words(out, "\"");
}

void messagejson_put(struct buffer *out, const struct message *message)
{
	put_words(out, "{\"timestamp\":");
	put_time(out, message->time < 0 ? 0 : message->time);
	put_words(out, ",\"category\":");
	put_text(out, message->category, message->category_size);
	if (utf8_valid((const char *)message->payload, message->payload_size)) {
		put_words(out, ",\"message\":");
		put_text(out, message->payload, message->payload_size);
	} else {
		put_words(out, ",\"message_base64\":");
		put_base64(out, message->payload, message->payload_size);
	}
	put_words(out, "}");
}
