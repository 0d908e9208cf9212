/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The first of two programs whose traces join up: a gateway that stores objects by asking a store (store.c).
 *
 *     gateway PORT REQUESTS
 *
 * Each request is a trace: the span "put object" is its root, and within it the span "write" is the call to
 * the store.
 */
#include "message.h"
#include "wire.h"

/* Where this program's spans take place. */
static const struct blkin_endpoint gateway = {"10.0.0.1", 8080, "gateway"};

/* Calls the store within the span @parent, which it becomes a child of. */
static uint32_t call_store(int fd, const struct blkin_endpoint *store, const struct blkin_span *parent,
	const char *object, uint32_t bytes)
{
	struct request request = {.bytes = htonl(bytes)};
	struct answer answer;
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_CLIENT, "write", &gateway, blkin_span_context(parent));
	blkin_span_remote(&span, store);
	snprintf(request.object, sizeof(request.object), "%s", object);
	blkin_context_pack(blkin_span_context(&span), &request.context);
	wire_send(fd, &request, sizeof(request));
	if (!wire_receive(fd, &answer, sizeof(answer)))
		wire_die("the store is gone");
	blkin_span_finish(&span);
	return ntohl(answer.written);
}

static void put_object(int fd, const struct blkin_endpoint *store, int number)
{
	uint32_t bytes = 4096u * (uint32_t)(number + 1), written;
	struct blkin_span span;
	char object[32];

	snprintf(object, sizeof(object), "object-%d", number);
	blkin_span_start(&span, BLKIN_LOCAL, "put object", &gateway, NULL);
	blkin_span_tag(&span, "object", object);
	blkin_span_tag_int(&span, "bytes", bytes);
	blkin_span_annotate(&span, "placed on store");
	written = call_store(fd, store, &span, object, bytes);
	if (written != bytes)
		blkin_span_tag(&span, "error", "written short");
	blkin_span_finish(&span);
}

int main(int argc, char **argv)
{
	struct blkin_endpoint store = {"127.0.0.1", 0, "store"};
	int fd;

	if (argc != 3) {
		fprintf(stderr, "usage: gateway PORT REQUESTS\n");
		return 64;
	}
	store.port = (int16_t)atoi(argv[1]);
	fd = wire_connect(atoi(argv[1]));
	for (int i = 0; i < atoi(argv[2]); i++)
		put_object(fd, &store, i);
	close(fd);
	return 0;
}
