// SPDX-License-Identifier: BSD-2-Clause
/* Two processes in the style of BlkKin of 2014, in C++: classic_pair_2014_cpp SOCKET */
#include <ztracer.hpp>

#include "classic_pair.h"

struct message {
	char text[20];
	struct blkin_trace_info trace_info;
};

class Parent
{
	int fd;
	ZTracer::ZTraceEndpointRef endpoint;
	ZTracer::ZTraceRef trace;

      public:
	explicit Parent(int socket) : fd(socket), endpoint(), trace()
	{
		endpoint = ZTracer::create_ZTraceEndpoint("10.0.0.1", 5000, "service a");
	}

	void process()
	{
		struct message message = {"message", {0, 0, 0}};
		char ack;

		trace = ZTracer::create_ZTrace("process a", endpoint);
		trace->event("start");
		trace->get_trace_info(&message.trace_info);
		pair_send(fd, &message, sizeof(message));
		pair_receive(fd, &ack, 1);
		trace->event("end");
	}
};

class Child
{
	int fd;
	ZTracer::ZTraceEndpointRef endpoint;

      public:
	explicit Child(int socket) : fd(socket), endpoint()
	{
		endpoint = ZTracer::create_ZTraceEndpoint("10.0.0.2", 40001, "service b");
	}

	void process()
	{
		struct message message;

		pair_receive(fd, &message, sizeof(message));
		ZTracer::ZTraceRef trace =
			ZTracer::create_ZTrace("process b", endpoint, &message.trace_info, true);
		trace->event("start");
		trace->keyval("text", message.text);
		pair_work();
		trace->event("end");
		pair_send(fd, "*", 1);
	}
};

static void process_a(int fd)
{
	Parent parent(fd);

	for (int i = 0; i < PAIR_REQUESTS; i++)
		parent.process();
}

static void process_b(int fd)
{
	Child child(fd);

	for (int i = 0; i < PAIR_REQUESTS; i++)
		child.process();
}

int main(int, char **argv)
{
	if (ZTracer::ztrace_init() < 0)
		return 1;
	/* so that both processes inherit a generator of ids that is in use */
	ZTracer::create_ZTrace("not recorded", ZTracer::ZTraceEndpointRef());
	return pair_run(argv[1], process_a, process_b);
}
