/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The second of two programs whose traces join up: a store that the gateway (gateway.c) calls.
 *
 *     store PORT
 *
 * Its span "write" is the server's half of the gateway's span: it joins the context that came with the
 * request. What the store does meanwhile are spans of its own, children of that one.
 */
#include "message.h"
#include "wire.h"

static void journal(const struct blkin_endpoint *store, const struct blkin_span *parent)
{
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, "journal", store, blkin_span_context(parent));
	usleep(500);
	blkin_span_annotate(&span, "journal committed");
	blkin_span_finish(&span);
}

static void write_to_disk(const struct blkin_endpoint *store, const struct blkin_span *parent, uint32_t bytes)
{
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_LOCAL, "disk write", store, blkin_span_context(parent));
	blkin_span_tag(&span, "device", "sda");
	blkin_span_tag_int(&span, "blocks", bytes / 512);
	usleep(1000);
	blkin_span_annotate(&span, "flushed");
	blkin_span_finish(&span);
}

static void serve(int fd, const struct blkin_endpoint *store)
{
	struct request request;

	while (wire_receive(fd, &request, sizeof(request))) {
		struct answer answer = {.written = request.bytes};
		struct blkin_context received = {0};
		struct blkin_span span;

		request.object[sizeof(request.object) - 1] = '\0';
		/* A context that makes no sense leaves the request untraced, not unanswered. */
		blkin_context_unpack(&received, &request.context, sizeof(request.context));
		blkin_span_join(&span, "write", store, &received);
		blkin_span_tag(&span, "object", request.object);
		journal(store, &span);
		write_to_disk(store, &span, ntohl(request.bytes));
		blkin_span_finish(&span);
		wire_send(fd, &answer, sizeof(answer));
	}
	close(fd);
}

int main(int argc, char **argv)
{
	struct blkin_endpoint store = {"127.0.0.1", 0, "store"};
	int listener, fd;

	if (argc != 2) {
		fprintf(stderr, "usage: store PORT\n");
		return 64;
	}
	store.port = (int16_t)atoi(argv[1]);
	listener = wire_listen(atoi(argv[1]));
	while ((fd = accept(listener, NULL, NULL)) >= 0)
		serve(fd, &store);
	wire_die("cannot accept");
}
