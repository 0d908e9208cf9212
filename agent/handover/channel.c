/* SPDX-License-Identifier: BSD-2-Clause */
#include "handover/channel.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Read at a time, and what a buffer may keep of its room. */
#define READ_SIZE (128 * 1024)
#define KEPT_SIZE (1024 * 1024)

void channel_init(struct channel *channel, int socket, size_t max)
{
	*channel = (struct channel){.socket = socket, .max = max};
}

void channel_free(struct channel *channel)
{
	if (channel->socket >= 0)
		close(channel->socket);
	buffer_free(&channel->in);
	buffer_free(&channel->out);
	channel->socket = -1;
}

/* Leaves @pieces without their first @size bytes. */
static void advance(struct msghdr *message, size_t size)
{
	while (message->msg_iovlen && size >= message->msg_iov->iov_len) {
		size -= message->msg_iov->iov_len;
		message->msg_iov++;
		message->msg_iovlen--;
	}
	if (!message->msg_iovlen)
		return;
	message->msg_iov->iov_base = (uint8_t *)message->msg_iov->iov_base + size;
	message->msg_iov->iov_len -= size;
}

bool channel_send(struct channel *channel, enum frame_type type, struct iovec *pieces, int count)
{
	struct frame_header header = {.type = type};
	struct msghdr message = {.msg_iov = pieces, .msg_iovlen = (size_t)count};

	pieces[0] = (struct iovec){&header, sizeof(header)};
	for (int i = 1; i < count; i++)
		header.size += (uint32_t)pieces[i].iov_len;
	while (message.msg_iovlen) {
		ssize_t size = sendmsg(channel->socket, &message, MSG_NOSIGNAL);

		if (size < 0 && errno != EINTR)
			return false;
		if (size > 0)
			advance(&message, (size_t)size);
	}
	return true;
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

bool channel_receive(struct channel *channel, bool wait)
{
	struct buffer *in = &channel->in;
	ssize_t size;

	tidy(channel);
	do
		size = recv(
			channel->socket, buffer_reserve(in, READ_SIZE), READ_SIZE, wait ? 0 : MSG_DONTWAIT);
	while (size < 0 && errno == EINTR);
	if (size > 0)
		in->size += (size_t)size;
	else
		channel->closed |= size == 0 || errno != EAGAIN;
	return !channel->closed;
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
