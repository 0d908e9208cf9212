/* SPDX-License-Identifier: BSD-2-Clause */
/* Two processes in the style of BlkKin of 2014, in C: classic_pair_2014_c SOCKET */
#include <blkin-front.h>

#include "classic_pair.h"

struct message {
	char text[20];
	struct blkin_trace_info trace_info;
};

static void process_a(int fd)
{
	struct message message = {.text = "message"};
	struct blkin_endpoint endpoint;
	struct blkin_annotation annotation;
	struct blkin_trace trace;
	char ack;

	if (blkin_init() < 0)
		exit(1);
	blkin_init_endpoint(&endpoint, "10.0.0.1", 5000, "service a");
	for (int i = 0; i < PAIR_REQUESTS; i++) {
		blkin_init_new_trace(&trace, "process a", &endpoint);
		blkin_init_timestamp_annotation(&annotation, "start", &endpoint);
		blkin_record(&trace, &annotation);
		blkin_get_trace_info(&trace, &message.trace_info);
		pair_send(fd, &message, sizeof(message));
		pair_receive(fd, &ack, 1);
		blkin_init_timestamp_annotation(&annotation, "end", &endpoint);
		blkin_record(&trace, &annotation);
	}
}

static void process_b(int fd)
{
	struct blkin_endpoint endpoint;
	struct blkin_annotation annotation;
	struct message message;
	struct blkin_trace trace;

	if (blkin_init() < 0)
		exit(1);
	blkin_init_endpoint(&endpoint, "10.0.0.2", 40001, "service b");
	for (int i = 0; i < PAIR_REQUESTS; i++) {
		pair_receive(fd, &message, sizeof(message));
		blkin_init_child_info(&trace, &message.trace_info, &endpoint, "process b");
		blkin_init_timestamp_annotation(&annotation, "start", &endpoint);
		blkin_record(&trace, &annotation);
		BLKIN_KEYVAL(&trace, &endpoint, "text", message.text);
		pair_work();
		BLKIN_TIMESTAMP(&trace, NULL, "end")
		pair_send(fd, "*", 1);
	}
}

int main(int argc, char **argv)
{
	struct blkin_trace before_fork; /* so that both processes inherit a generator of ids that is in use */

	(void)argc;
	blkin_init_new_trace(&before_fork, "not recorded", NULL);
	return pair_run(argv[1], process_a, process_b);
}
