/* SPDX-License-Identifier: BSD-2-Clause */
#include "connect.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <event2/event.h>
#include <event2/thread.h>

#include "base/clock.h"
#include "base/proxyurl.h"
#include "config/outputtype.h"
#include "config/tags.h"
#include "core/span.h"
#include "encode/messagelog.h"
#include "output/uplink/probe.h"
#include "output/uplink/uplinktype.h"
#include "queue/format.h"

#define SERVICE "blkin"
#define NAME "connection test"
#define TAG "blkin.test"

/* An output that is tried. */
struct
try {
	const struct output_config *output;
	enum kind kind;     /* of the item that it gets */
	struct buffer span; /* or what it is */
	uint32_t span_size;
	struct run run;
	struct probe *probes[ADDRESSES_MAX];
	size_t count;
	struct uplink_options options;
};

struct connecting {
	struct event_base *base;
	struct try tries[CONFIG_LANES_MAX];
	size_t count, open; /* tries; probes that have no end yet */
	uint64_t trace_id;
	int64_t time; /* of the span, which is the same for all: ns since the epoch */
};

#define TEXT(literal) ((struct text){literal, sizeof(literal) - 1})

/* A root of its own, so that nobody takes it for a part of a trace. */
static void encode_span(struct try *try, const struct connecting *all)
{
	const struct tag tag = {TEXT(TAG), TEXT("true"), TAG_BOOL};
	struct tags tags = {0};
	char error[256];
	struct span span = {
		.trace_id = all->trace_id,
		.id = all->trace_id,
		.kind = SPAN_LOCAL,
		.timestamp = all->time,
		.duration = 1000,
		.name = TEXT(NAME),
		.local = {.service = TEXT(SERVICE)},
		.tags = &tag,
		.tag_count = 1,
	};

	if (*try->output->tags && tags_parse(&tags, try->output->tags, error, sizeof(error)) != 0)
		g_error("`tags` %s", error);
	span.added = tags.of;
	span.added_count = tags.count;
	if (format_encode(uplink_format(try->output, KIND_SPANS), &try->span, &span) < 0)
		g_error("a span of a few bytes is too large");
}

/* What stands for an event in each format, and for a message. */
static void encode_other(struct try *try, const struct connecting *all)
{
	const struct message message = {.time = all->time,
		.category = (const uint8_t *)SERVICE,
		.category_size = sizeof(SERVICE) - 1,
		.payload = (const uint8_t *)NAME,
		.payload_size = sizeof(NAME) - 1};

	switch (uplink_format(try->output, try->kind)) {
	case BATCH_MESSAGES:
		message_put(&try->span, &message);
		break;
	case BATCH_EVENT_OTLP:
		messagelog_put(&try->span, &message);
		break;
	default:
		buffer_printf(&try->span,
			"{\"timestamp\":\"%" PRId64 "\",\"event\":\"" SERVICE ":" NAME "\"}", all->time);
	}
}

static void encode_item(struct try *try, const struct connecting *all)
{
	if (try->kind == KIND_SPANS)
		encode_span(try, all);
	else
		encode_other(try, all);
	try->span_size = (uint32_t)try->span.size;
	try->run = (struct run){
		.spans = try->span.data, .sizes = &try->span_size, .count = 1, .size = try->span.size};
}

static void on_end(void *data)
{
	struct connecting *all = data;

	if (--all->open == 0)
		event_base_loopbreak(all->base);
}

/* Each type of output is tried in its own way. */
static void begin(struct connecting *all, const struct output_config *output, enum kind kind)
{
	struct try *try = &all->tries[all->count++];

	try->output = output;
	try->kind = kind;
	if (!uplink_types[output->type]->probe)
		return;
	try->options = (struct uplink_options){
		.is = output,
		.name = output->name,
		.kind = kind,
		.node = output->balance ? g_get_host_name() : NULL,
		.starting = true,
		.patient = true,
	};
	encode_item(try, all);
	try->count = uplink_types[output->type]->probe(all->base, &try->options, &try->run, try->probes);
	for (size_t i = 0; i < try->count; i++)
		probe_on_end(try->probes[i], on_end, all);
	all->open += try->count;
}

/* For each kind that it takes; of one that is off, or writes files, there is one thing to say. */
static void begin_lanes(struct connecting *all, const struct output_config *output)
{
	if (!uplink_types[output->type]->probe) {
		begin(all, output, KIND_SPANS);
		return;
	}
	for (int kind = 0; kind < KINDS; kind++)
		if (config_lane_is_on(output, kind))
			begin(all, output, kind);
}

/* Faults stand in the order in which they can come. */
static const char *heading(const struct probe_result *result, enum kind kind)
{
	static const char *const refuses[KINDS] = {
		"refuses the span", "refuses the event", "refuses the message"};
	static const char *const takes_none[KINDS] = {
		"takes no spans", "takes no events", "takes no messages"};

	if (result->end == PROBE_ACCEPTED)
		return "accepted";
	if (result->end == PROBE_REFUSED)
		return refuses[kind];
	if (result->end == PROBE_LATER)
		return "asks to try later";
	if (result->fault < FAULT_TLS_CERTIFICATE)
		return "cannot connect";
	if (result->fault <= FAULT_TLS)
		return "no TLS connection";
	if (result->fault == FAULT_HEADERS || result->fault == FAULT_LIBRARY ||
		result->fault == FAULT_PASSWORD)
		return "cannot send";
	return result->fault < FAULT_TRY_LATER ? "no good answer" : takes_none[kind];
}

/* Returns whether it accepted. */
static bool print_server(const struct try *try, const struct probe_result *result)
{
	const struct output_config *output = try->output;
	const bool spans = try->kind == KIND_SPANS;
	const bool accepted = result->end == PROBE_ACCEPTED;
	const char *words = !accepted ? result->words
			    : result->unended
				    ? "but its answer does not end, so each call will take a connection "
				      "of its own"
				    : "";
	char way[PROXYURL_WAY];

	printf("[%s] %s%s: %s%s%s%s%s (%.*f ms)\n", output->section, result->server,
		proxyurl_way(output->proxy, way), spans ? "" : kind_name(try->kind), spans ? "" : ": ",
		heading(result, try->kind), *words ? ": " : "", words,
		result->took_ns < 10 * NS_PER_MS ? 1 : 0, (double)result->took_ns / 1e6);
	return accepted;
}

/* Files get no span of ours; it is seen whether there can be any. What is the agent's own, it makes. */
static bool print_directory(const struct output_config *output)
{
	const char *path = config_output_place(output);
	g_autofree char *inside = g_build_filename(path, ".", NULL); /* which a file has not */
	bool usable = access(inside, W_OK | X_OK) == 0 || (errno == ENOENT && output->own_directory);

	printf("[%s] %s: %s%s\n", output->section, path,
		usable ? "writable" : "not writable: ", usable ? "" : g_strerror(errno));
	return usable;
}

/* Returns whether all servers accepted. */
static bool print_try(const struct try *try)
{
	bool accepted = true;

	if (!config_output_delivers(try->output))
		printf("[%s]: delivers nothing, as `type = none`\n", try->output->section);
	if (output_type_has_directory(output_type_of(try->output)))
		accepted = print_directory(try->output);
	for (size_t i = 0; i < try->count; i++)
		accepted &= print_server(try, &try->probes[i]->result);
	return accepted;
}

static void end(struct connecting *all)
{
	for (size_t i = 0; i < all->count; i++) {
		struct try *try = &all->tries[i];

		for (size_t k = 0; k < try->count; k++)
			probe_destroy(try->probes[k]);
		event_base_loop(all->base, EVLOOP_NONBLOCK);
		buffer_free(&try->span);
	}
	event_base_free(all->base);
	libevent_global_shutdown();
}

bool connect_try(const struct config *config)
{
	struct connecting all = {0};
	bool accepted = true;

	signal(SIGPIPE, SIG_IGN);
	evthread_use_pthreads();
	all.base = event_base_new();
	if (!all.base || getrandom(&all.trace_id, sizeof(all.trace_id), 0) != sizeof(all.trace_id))
		g_error("no event loop, or no random numbers");
	all.trace_id |= 1; /* 0 is none */
	all.time = clock_wall();
	for (guint i = 0; i < config->outputs->len; i++)
		begin_lanes(&all, g_ptr_array_index(config->outputs, i));
	if (all.open > 0) {
		printf("each server gets a span `" NAME "` of service `" SERVICE "`, trace %016" PRIx64 "\n",
			all.trace_id);
		fflush(stdout);
		event_base_dispatch(all.base);
	}
	for (size_t i = 0; i < all.count; i++)
		accepted &= print_try(&all.tries[i]);
	end(&all);
	return accepted;
}
