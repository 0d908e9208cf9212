/* SPDX-License-Identifier: BSD-2-Clause */
#include "look/stream.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/log.h"
#include "core/record.h"
#include "spans/shown.h"
#include "supervise/subscribers.h"

#define PIECE (256 * 1024)

void stream_begin(struct stream *stream, int fd)
{
	stream->fd = fd;
	stream->open = true;
	stream->strange = false;
	stream->lost = 0;
}

static void take_span(
	struct stream *stream, uint32_t format, const uint8_t *item, size_t size, GPtrArray *spans)
{
	char error[256];

	if (!shown_item((uint8_t)format, item, size, &stream->memory, spans, error, sizeof(error)))
		log_error("a span cannot be shown: %s", error);
}

static bool take_record(
	struct stream *stream, struct tail_record record, const uint8_t *body, GPtrArray *spans)
{
	struct tail_news news;

	if (record.kind < TAIL_NEWS) {
		take_span(stream, record.kind, body, record.size, spans);
	} else if (record.kind == TAIL_NEWS && record.size == sizeof(news)) {
		memcpy(&news, body, sizeof(news));
		stream->lost = news.lost;
	} else {
		return false;
	}
	return true;
}

/* Takes the records that are whole; false if they are none. */
static bool take_records(struct stream *stream, GPtrArray *spans)
{
	struct buffer *in = &stream->in;
	size_t at = 0;
	bool good = true;

	while (good && in->size - at >= sizeof(struct tail_record)) {
		struct tail_record record;

		memcpy(&record, in->data + at, sizeof(record));
		if (record.size > RECORD_MAX)
			return false;
		if (in->size - at - sizeof(record) < record.size)
			break;
		good = take_record(stream, record, in->data + at + sizeof(record), spans);
		at += sizeof(record) + record.size;
	}
	if (at)
		memmove(in->data, in->data + at, in->size - at);
	in->size -= at;
	return good;
}

bool stream_take(struct stream *stream, GPtrArray *spans)
{
	ssize_t size = recv(stream->fd, buffer_reserve(&stream->in, PIECE), PIECE, MSG_DONTWAIT);

	if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
		return false;
	stream->in.size += size > 0 ? (size_t)size : 0;
	stream->strange = !take_records(stream, spans);
	return !stream->strange;
}

void stream_end(struct stream *stream)
{
	if (stream->open)
		close(stream->fd);
	buffer_free(&stream->in);
	span_memory_free(&stream->memory);
	*stream = (struct stream){0};
}
