/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BlkKin's classic calls: a client that asks classic_server.c. Each annotation is recorded at once.
 *
 *     classic_client PORT REQUESTS
 */
#include <blkin/blkin.h>

#include "wire.h"

static void ask(int fd, const struct blkin_endpoint *client, int number)
{
	struct blkin_trace_info_packed packed;
	struct blkin_trace root, call;
	char answer;

	blkin_init_new_trace(&root, "read", client);
	BLKIN_KEYVAL_INTEGER(&root, NULL, "number", number);
	blkin_init_child(&call, &root, NULL, "fetch");
	BLKIN_TIMESTAMP(&call, NULL, "cs");
	BLKIN_KEYVAL_STRING(&call, NULL, "object", "motd");
	blkin_pack_trace_info(&call.info, &packed);
	wire_send(fd, &packed, sizeof(packed));
	if (!wire_receive(fd, &answer, sizeof(answer)))
		wire_die("the server is gone");
	BLKIN_TIMESTAMP(&call, NULL, "cr");
	BLKIN_TIMESTAMP(&root, NULL, "read done");
}

int main(int argc, char **argv)
{
	struct blkin_endpoint client;
	int fd;

	if (argc != 3) {
		fprintf(stderr, "usage: classic_client PORT REQUESTS\n");
		return 64;
	}
	blkin_init();
	blkin_init_endpoint(&client, "10.0.0.2", 5000, "classic client");
	fd = wire_connect(atoi(argv[1]));
	for (int i = 0; i < atoi(argv[2]); i++)
		ask(fd, &client, i);
	close(fd);
	return 0;
}
