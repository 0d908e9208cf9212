/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Floods that must not make the agent grow.
 *
 *     flood endless|names|strings|long EVENTS RATE
 *
 * endless: an annotation each of a span of its own, which never ends. names: the same, each with a service
 * and a name that nobody had before. strings: of spans that never end, each annotation has 8 KiB of text.
 * long: the same, each of a span of its own. RATE is in events a second. Prints how many events it recorded.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <blkin/blkin.h>

#define TEXT 8192
#define STRING_SPANS 500
#define TICK_US 1000

static void record(const char *kind, int64_t number)
{
	static char text[TEXT + 1];
	char service[64] = "flood", name[64] = "endless";
	struct blkin_endpoint here = {"10.4.0.1", 1, service};
	struct blkin_trace trace = {name, {number + 1, number + 1, 0}, &here};

	if (*kind == 'n') {
		snprintf(service, sizeof(service), "service-%lld", (long long)number);
		snprintf(name, sizeof(name), "name-%lld", (long long)number);
	}
	if (*kind == 's')
		trace.info.trace_id = trace.info.span_id = number % STRING_SPANS + 1;
	if (*kind == 's' || *kind == 'l') {
		memset(text, 'a' + (int)(number % 26), TEXT);
		BLKIN_KEYVAL_STRING(&trace, NULL, "text", text);
	} else {
		BLKIN_TIMESTAMP(&trace, NULL, "begun");
	}
}

int main(int argc, char **argv)
{
	int64_t events, rate, done = 0;

	if (argc != 4)
		return 64;
	events = atoll(argv[2]);
	rate = atoll(argv[3]);
	for (int i = 0; !blkin_tracing() && i < 1000; i++)
		usleep(10000);
	if (!blkin_tracing()) {
		fprintf(stderr, "flood: not traced within ten seconds\n");
		return 1;
	}
	while (done < events) {
		for (int64_t i = 0; i < rate * TICK_US / 1000000 && done < events; i++)
			record(argv[1], done++);
		usleep(TICK_US);
	}
	printf("%lld\n", (long long)events);
	return 0;
}
