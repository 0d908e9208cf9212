/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BlkKin's classic calls: the server that classic_client.c asks. It records under the client's own ids, which
 * came with the request, so that both halves are one span.
 *
 *     classic_server PORT
 */
#include <blkin/blkin.h>

#include "wire.h"

static void serve(int fd, const struct blkin_endpoint *server)
{
	struct blkin_trace_info_packed packed;

	while (wire_receive(fd, &packed, sizeof(packed))) {
		struct blkin_trace_info info;
		struct blkin_trace trace;

		blkin_unpack_trace_info(&packed, &info);
		blkin_set_trace_properties(&trace, &info, "fetch", server);
		BLKIN_TIMESTAMP(&trace, NULL, "sr");
		BLKIN_KEYVAL_INTEGER(&trace, NULL, "bytes", 1234);
		BLKIN_TIMESTAMP(&trace, NULL, "ss");
		wire_send(fd, "!", 1);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	struct blkin_endpoint server;
	int listener, fd;

	if (argc != 2) {
		fprintf(stderr, "usage: classic_server PORT\n");
		return 64;
	}
	blkin_init();
	blkin_init_endpoint(&server, "127.0.0.1", (int16_t)atoi(argv[1]), "classic server");
	listener = wire_listen(atoi(argv[1]));
	while ((fd = accept(listener, NULL, NULL)) >= 0)
		serve(fd, &server);
	wire_die("cannot accept");
}
