// SPDX-License-Identifier: BSD-2-Clause
/* Two processes in the style of ceph/blkin, in C++: classic_pair_ceph_cpp SOCKET */
#include <ztracer.hpp>

#include "classic_pair.h"

struct message {
	char text[20];
	blkin_trace_info trace_info;
};

static void process_a(int fd)
{
	const ZTracer::Endpoint endpoint("10.0.0.1", 5000, "service a");

	for (int i = 0; i < PAIR_REQUESTS; i++) {
		ZTracer::Trace trace("process a", &endpoint);
		struct message message = {"message", *trace.get_info()};
		char ack;

		trace.event("start");
		pair_send(fd, &message, sizeof(message));
		pair_receive(fd, &ack, 1);
		trace.event("end");
	}
}

static void process_b(int fd)
{
	ZTracer::Endpoint endpoint("service b");
	ZTracer::Trace trace;

	endpoint.copy_ip(std::string("10.0.0.") + "2");
	endpoint.set_port(40001);
	for (int i = 0; i < PAIR_REQUESTS; i++) {
		struct message message;

		pair_receive(fd, &message, sizeof(message));
		if (trace.init("process b", &endpoint, &message.trace_info, true) != 0)
			exit(1);
		trace.event("start");
		trace.keyval("text", message.text);
		pair_work();
		trace.event("end");
		pair_send(fd, "*", 1);
	}
}

int main(int, char **argv)
{
	if (ZTracer::ztrace_init() < 0)
		return 1;
	/* so that both processes inherit a generator of ids that is in use */
	ZTracer::Trace before_fork("not recorded", nullptr);
	return pair_run(argv[1], process_a, process_b);
}
