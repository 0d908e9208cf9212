/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stream of events, always the same but for ids and times, at a steady rate.
 *
 *     generate span|classic EVENTS RATE [SERVICES NAMES]
 *
 * `span`: each event is a blkin:span with six annotations and tags. `classic`: six classic events a span, of
 * a client from cs to cr. RATE is in events a second, 0: as fast as it goes. SERVICES and NAMES, of spans:
 * how many different ones there are in the stream. Prints how many events and spans it recorded.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <blkin/blkin.h>

#define CLASSIC_EVENTS 6

#define NAME_SIZE 24

static const struct blkin_endpoint here = {"192.168.17.4", 6800, "osd.4"};

/* What spans are named, in turn. */
static char (*services)[NAME_SIZE], (*names)[NAME_SIZE];
static unsigned service_count = 1, name_count = 1, turn;

static void record_span(void)
{
	struct blkin_context parent = {.trace_id = blkin_id(), .span_id = blkin_id()};
	struct blkin_endpoint endpoint = {here.ip, here.port, services[turn % service_count]};
	struct blkin_span span;

	blkin_span_start(&span, BLKIN_CLIENT, names[turn++ % name_count], &endpoint, &parent);
	blkin_span_annotate(&span, "request encoded");
	blkin_span_tag(&span, "object", "rbd_data.10226b8b4567.000000000000042a");
	blkin_span_tag(&span, "pool", "rbd");
	blkin_span_annotate(&span, "request sent");
	blkin_span_tag_int(&span, "bytes", 4194304);
	blkin_span_annotate(&span, "reply decoded");
	blkin_span_finish(&span);
}

static void record_classic(void)
{
	struct blkin_trace root, trace;

	blkin_init_new_trace(&root, "read", &here);
	blkin_init_child(&trace, &root, NULL, "read");
	BLKIN_TIMESTAMP(&trace, NULL, "cs");
	BLKIN_KEYVAL_STRING(&trace, NULL, "object", "rbd_data.10226b8b4567.000000000000042a");
	BLKIN_KEYVAL_INTEGER(&trace, NULL, "bytes", 4194304);
	BLKIN_TIMESTAMP(&trace, NULL, "request sent");
	BLKIN_TIMESTAMP(&trace, NULL, "reply decoded");
	BLKIN_TIMESTAMP(&trace, NULL, "cr");
}

/* "osd.4", "osd.5" … */
static char (*number_names(const char *name, unsigned first, unsigned count))[NAME_SIZE]
{
	char(*made)[NAME_SIZE] = calloc(count, NAME_SIZE);

	for (unsigned i = 0; i < count; i++)
		snprintf(made[i], NAME_SIZE, "%s%u", name, first + i);
	return made;
}

/* How many of @spans are due, @since the start. */
static uint64_t due(uint64_t since, double spans_per_second, uint64_t spans)
{
	double count = (double)since * spans_per_second / 1e9;

	return spans_per_second <= 0 || count >= (double)spans ? spans : (uint64_t)count;
}

static void generate(void (*record)(void), uint64_t spans, double spans_per_second)
{
	uint64_t begun = blkin_now(), done = 0;

	while (done < spans) {
		uint64_t until = due(blkin_now() - begun, spans_per_second, spans);

		for (; done < until; done++)
			record();
		if (done < spans)
			usleep(1000);
	}
}

static bool recording(void)
{
	return blkin_tracing() && BLKIN_CLASSIC_ON_(timestamp) && BLKIN_CLASSIC_ON_(keyval_string) &&
	       BLKIN_CLASSIC_ON_(keyval_integer);
}

int main(int argc, char **argv)
{
	bool classic = argc >= 4 && !strcmp(argv[1], "classic");
	unsigned events_a_span = classic ? CLASSIC_EVENTS : 1;
	uint64_t spans;

	if ((argc != 4 && argc != 6) || (!classic && strcmp(argv[1], "span") != 0)) {
		fprintf(stderr, "usage: generate span|classic EVENTS RATE [SERVICES NAMES]\n");
		return 64;
	}
	service_count = argc == 6 && atoi(argv[4]) > 0 ? (unsigned)atoi(argv[4]) : 1;
	name_count = argc == 6 && atoi(argv[5]) > 0 ? (unsigned)atoi(argv[5]) : 1;
	services = number_names("osd.", 4, service_count);
	names = number_names("read", 4, name_count);
	for (int i = 0; i < 200 && !recording(); i++)
		usleep(50000);
	if (!recording()) {
		fprintf(stderr, "generate: no session records blkin:*\n");
		return 3;
	}
	spans = strtoull(argv[2], NULL, 10) / events_a_span;
	generate(classic ? record_classic : record_span, spans, strtod(argv[3], NULL) / events_a_span);
	printf("%" PRIu64 " %" PRIu64 "\n", spans * events_a_span, spans);
	return 0;
}
