/* SPDX-License-Identifier: BSD-2-Clause */
#include "handover/channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* How long to wait for room in the ring before another look, ms. */
#define FULL_MS 1
/* The agent is woken once each time that it sleeps, so these are never there at a time. */
#define WAKES_MAX 16
/* Taken at a time, little enough to stay in the processor's cache; and what a buffer may keep of its room. */
#define READ_SIZE (128 * 1024)
#define KEPT_SIZE (1024 * 1024)

void channel_init(struct channel *channel, int socket, struct ring *ring, size_t max)
{
	*channel = (struct channel){.socket = socket, .ring = ring, .max = max};
}

void channel_free(struct channel *channel)
{
	if (channel->socket >= 0)
		close(channel->socket);
	buffer_free(&channel->in);
	buffer_free(&channel->out);
	channel->socket = -1;
}

/* Sending */

static void wake(struct channel *channel)
{
	if (ring_wakes(channel->ring))
		send(channel->socket, "", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static bool put(struct channel *channel, const void *data, size_t size)
{
	struct pollfd gone = {.fd = channel->socket};
	size_t done = ring_put(channel->ring, data, size);

	while (done < size) {
		wake(channel);
		if (poll(&gone, 1, FULL_MS) > 0)
			return false;
		done += ring_put(channel->ring, (const uint8_t *)data + done, size - done);
	}
	return true;
}

bool channel_send(struct channel *channel, enum frame_type type, const struct iovec *pieces, int count)
{
	struct frame_header header = {.type = type};
	bool open;

	for (int i = 0; i < count; i++)
		header.size += (uint32_t)pieces[i].iov_len;
	open = put(channel, &header, sizeof(header));
	for (int i = 0; i < count && open; i++)
		open = put(channel, pieces[i].iov_base, pieces[i].iov_len);
	wake(channel);
	return open;
}

void channel_flush(struct channel *channel)
{
	struct buffer *out = &channel->out;
	size_t sent = 0;

	if (!out->size)
		return;
	while (sent < out->size) {
		ssize_t size = send(
			channel->socket, out->data + sent, out->size - sent, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (size < 0 && errno != EINTR)
			break;
		if (size > 0)
			sent += (size_t)size;
	}
	memmove(out->data, out->data + sent, out->size - sent);
	out->size -= sent;
	if (!out->size && out->room > KEPT_SIZE)
		buffer_free(out);
}

void channel_post(struct channel *channel, enum frame_type type, const struct buffer *body)
{
	struct frame_header header = {.type = type, .size = body ? (uint32_t)body->size : 0};

	buffer_put(&channel->out, &header, sizeof(header));
	if (body)
		buffer_put(&channel->out, body->data, body->size);
	channel_flush(channel);
}

/* Drops what was taken; the beginning of a frame is moved only if there is no room behind it. */
static void tidy(struct channel *channel)
{
	struct buffer *in = &channel->in;

	if (channel->taken == in->size) {
		channel->taken = in->size = 0;
		if (in->room > KEPT_SIZE)
			buffer_free(in);
	} else if (channel->taken && in->room - in->size < READ_SIZE) {
		in->size -= channel->taken;
		memmove(in->data, in->data + channel->taken, in->size);
		channel->taken = 0;
	}
}

bool channel_receive(struct channel *channel)
{
	struct pollfd socket = {.fd = channel->socket, .events = POLLIN};
	struct buffer *in = &channel->in;
	ssize_t size;

	tidy(channel);
	/* recv would also wake up each time that the agent takes what it was woken with */
	poll(&socket, 1, -1);
	do
		size = recv(channel->socket, buffer_reserve(in, READ_SIZE), READ_SIZE, 0);
	while (size < 0 && errno == EINTR);
	if (size > 0)
		in->size += (size_t)size;
	return size > 0;
}

bool channel_collect(struct channel *channel)
{
	uint8_t wakes[WAKES_MAX];
	ssize_t size;
	bool open;

	tidy(channel);
	do
		size = recv(channel->socket, wakes, sizeof(wakes), MSG_DONTWAIT);
	while (size < 0 && errno == EINTR);
	open = size > 0 || (size < 0 && errno == EAGAIN);
	channel->wrong |=
		size == WAKES_MAX || !ring_take(channel->ring, &channel->ring_taken, READ_SIZE, &channel->in);
	return open || channel_has_more(channel);
}

bool channel_has_more(const struct channel *channel)
{
	return !channel->wrong && !ring_is_empty(channel->ring, channel->ring_taken);
}

bool channel_may_sleep(struct channel *channel, uint32_t wanted)
{
	return ring_may_sleep(channel->ring, channel->ring_taken, wanted);
}

bool channel_next(struct channel *channel, enum frame_type *type, struct unpacker *body)
{
	const struct buffer *in = &channel->in;
	struct frame_header header;
	size_t left = in->size - channel->taken;

	if (channel->wrong || left < sizeof(header))
		return false;
	memcpy(&header, in->data + channel->taken, sizeof(header));
	channel->wrong =
		header.size > channel->max || header.type < FRAME_HELLO || header.type > FRAME_FINISH;
	if (channel->wrong || left - sizeof(header) < header.size)
		return false;
	*type = header.type;
	*body = unpacker_of(in->data + channel->taken + sizeof(header), header.size);
	channel->taken += sizeof(header) + header.size;
	return true;
}
