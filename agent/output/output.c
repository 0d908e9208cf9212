/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/output.h"

#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/waker.h"
#include "output/spool/spoolname.h"
#include "output/uplink/uplinktype.h"

struct output {
	char *name;
	enum kind kind;
	char *state; /* the directory of what outlives the agent; NULL: an import, of which nothing does */
	char *directory; /* of the spool */
	struct event_base *base;
	struct account *account;
	bool patient; /* an import's */
	struct queue *queue;
	struct batch_limits batches;
	struct wanted *wanted;   /* NULL: an import, or a lane of other items; */
	uint64_t number;         /* its own there */
	struct event *asks;      /* each second, which traces others want; NULL: as before */
	struct sharing *sharing; /* NULL: an import, or a lane of other items */
	struct waker *pushed;    /* woken when somebody pushed a batch */
	struct uplink *uplink;
	struct spooler *spooler; /* NULL: the configuration wants none, or */
	uint64_t unstarted;      /* that one, of this size, cannot be had; 0: it can */
	int64_t dropped_at_end;
};

/* From the configuration */

/* Tags, what becomes of them, and shares of traces, are for spans. */
static const struct tagrules *rules_of(const struct output_config *is, enum kind kind)
{
	return kind == KIND_SPANS ? tagrules_intern(is->drop_tags, is->rename_tags, is->redact, is->tags)
				  : NULL;
}

bool output_is_plain(const struct output_config *is)
{
	const struct uplink_type *type = uplink_types[is->type];

	return !*is->tags && !rules_of(is, KIND_SPANS) && is->keep == 1 && !(type->looks && type->looks(is));
}

static struct queue_limits queue_limits(
	const struct output_config *is, enum kind kind, const struct output_manner *manner)
{
	return (struct queue_limits){
		.treatment = {.rules = rules_of(is, kind),
			.otlp_names = uplink_format(is, kind) == BATCH_OTLP_SPANS,
			.tags = kind == KIND_SPANS && *is->tags ? g_intern_string(is->tags) : NULL,
			.batch_spans = (uint32_t)is->batch_spans,
			.batch_bytes = is->batch_size},
		.bytes = is->queue_size,
		.wait_when_full = manner->patient,
		.disk_ns = manner->disk_ns,
	};
}

/* Whether it may keep spans for the sake of their trace. */
static bool keeps_traces(const struct output_config *is)
{
	return is->keep != 1 && is->keep_traces && (is->keep_errors || is->keep_slower);
}

static struct batch_limits batch_limits(const struct output *output, const struct output_config *is)
{
	const enum kind kind = output->kind;
	struct batch_limits limits = {
		.kind = kind,
		.spans = (uint32_t)is->batch_spans,
		.bytes = is->batch_size,
		.delay_ns = is->batch_delay,
	};

	if (kind != KIND_SPANS)
		return limits;
	limits.rules = rules_of(is, kind);
	limits.otlp_names = limits.rules && uplink_format(is, kind) == BATCH_OTLP_SPANS;
	limits.keep = (struct keep){
		.one_in = is->keep,
		.quota = is->keep ? NULL : queue_quota(output->queue),
		.errors = is->keep_errors,
		.slower = is->keep_slower,
		.traces_ns = is->keep_traces,
		.traces_bytes = is->keep_traces_size,
		.wanted = output->wanted,
		.output = output->wanted && keeps_traces(is) ? output->number : 0,
	};
	return limits;
}

static struct uplink *make_uplink(struct output *output, const struct output_config *is, bool starting)
{
	struct uplink_options options = {
		.is = is,
		.name = output->name,
		.kind = output->kind,
		.node = is->balance ? g_get_host_name() : NULL,
		.starting = starting,
		.patient = output->patient,
		.wanted = output->wanted,
		.number = output->number,
	};
	g_autofree char *record = NULL;

	if (output->state && output->kind == KIND_SPANS)
		record = g_strdup_printf("%s/written-%s", output->state, output->name);
	options.record = record;
	return uplink_create(output->base, output->queue, &options);
}

/* The loop */

/* In the pusher's thread. */
static void wake(void *data)
{
	struct output *output = data;

	waker_wake(output->pushed);
}

static void on_pushed(void *data)
{
	struct output *output = data;

	if (output->uplink)
		uplink_wake(output->uplink);
}

static void on_asks(evutil_socket_t fd, short what, void *data)
{
	struct output *output = data;

	(void)fd;
	(void)what;
	if (output->uplink)
		uplink_ask(output->uplink);
}

/* Where whole traces are kept, here or by others who send to this agent. */
static void plan_asking(
	struct output *output, const struct output_config *is, const struct output_manner *manner)
{
	struct timeval every = clock_timeval(NS_PER_SECOND);

	if (!output->asks)
		return;
	if (keeps_traces(is) || manner->senders)
		event_add(output->asks, &every);
	else
		event_del(output->asks);
}

static void join_wanted(struct output *output, struct wanted *wanted)
{
	output->wanted = wanted_ref(wanted);
	output->number = wanted_number(wanted);
	output->asks = event_new(output->base, -1, EV_PERSIST, on_asks, output);
}

struct output *output_create(struct event_base *base, const struct output_config *is, enum kind kind,
	const struct output_manner *manner)
{
	struct output *output = g_new0(struct output, 1);
	struct queue_limits limits = queue_limits(is, kind, manner);

	output->name = lane_name(is->name, kind);
	output->kind = kind;
	output->base = base;
	output->patient = manner->patient;
	output->state = manner->patient ? NULL : g_strdup(manner->state_directory);
	output->account = account_open(output->name);
	output->pushed = waker_create(base, on_pushed, output);
	output->queue = queue_create(&limits, output->account, wake, output);
	if (kind == KIND_SPANS && manner->wanted)
		join_wanted(output, manner->wanted);
	output->batches = batch_limits(output, is);
	plan_asking(output, is, manner);
	if (kind == KIND_SPANS && !manner->patient)
		output->sharing = sharing_create(base, output->queue, is, manner->senders);
	output->uplink = make_uplink(output, is, manner->starting);
	if (output->uplink)
		return output;
	output_destroy(output, false);
	return NULL;
}

bool output_start_spool(struct output *output, const struct config *config, const struct output_config *is)
{
	struct spooler_options options = {
		.name = output->name,
		.max_bytes = is->spool_size,
		.sync_full = config->spool_sync == CONFIG_SYNC_FULL,
		.replay_share = config->spool_replay_share,
		.replay_floor = config->spool_replay_floor,
	};

	if (!options.max_bytes)
		return true;
	options.directory = output->directory = g_strdup(config->state_directory);
	output->spooler = spooler_create(&options, output->queue);
	output->unstarted = output->spooler ? 0 : options.max_bytes;
	return output->spooler != NULL;
}

/* An output that came with a reload goes on without the spool, in memory. */
static void tell_unstarted(const struct output *output, struct spooler_state *spool)
{
	spool->max_bytes = output->unstarted;
	g_strlcpy(spool->error,
		"its thread cannot be started: too many threads (TasksMax=), or too little memory; restart "
		"the "
		"agent once there is room",
		sizeof(spool->error));
}

const char *output_name(const struct output *output)
{
	return output->name;
}

enum kind output_kind(const struct output *output)
{
	return output->kind;
}

struct account *output_account(const struct output *output)
{
	return output->account;
}

char *output_spool_path(const struct output *output)
{
	return output->directory ? spoolname_spool(output->directory, output->name) : NULL;
}

double output_part(const struct output *output)
{
	return quota_part(atomic_load(&queue_quota(output->queue)->share));
}

struct outlet output_outlet(const struct output *output)
{
	return (struct outlet){.queue = output->queue, .limits = output->batches};
}

void output_configure(
	struct output *output, const struct output_config *is, const struct output_manner *manner)
{
	struct queue_limits limits = queue_limits(is, output->kind, manner);

	queue_configure(output->queue, &limits);
	output->batches = batch_limits(output, is);
	plan_asking(output, is, manner);
	if (output->sharing)
		sharing_configure(output->sharing, is, manner->senders);
}

struct uplink *output_make_uplink(struct output *output, const struct output_config *is)
{
	return make_uplink(output, is, false);
}

void output_replace_uplink(struct output *output, struct uplink *uplink)
{
	uplink_destroy(output->uplink);
	output->uplink = uplink;
	queue_want_replay(output->queue, 0); /* which is for the new one to say */
	uplink_wake(uplink);
}

void output_close(struct output *output)
{
	queue_close(output->queue);
}

void output_when_drained(struct output *output, void (*done)(void *data), void *data)
{
	uplink_when_drained(output->uplink, done, data);
}

void output_read_state(const struct output *output, struct output_state *state)
{
	memset(state, 0, sizeof(*state));
	state->name = output->name;
	state->kind = output->kind;
	if (output->uplink)
		uplink_read_state(output->uplink, &state->uplink);
	else /* it has ended, and the spool is still at work */
		state->uplink.server = state->uplink.type = "";
	spooler_read_state(output->spooler, &state->spool);
	if (output->unstarted)
		tell_unstarted(output, &state->spool);
	state->queue_bytes = queue_bytes(output->queue);
	state->queue_limit = queue_limit(output->queue);
	if (output->sharing)
		sharing_read_state(output->sharing, &state->sharing);
	queue_read_wait(output->queue, &state->queue_wait_ns, &state->queue_grows);
	state->dropped_at_end = output->dropped_at_end;
}

bool output_has_spool(const struct output *output)
{
	return output->spooler != NULL;
}

bool output_discard(struct output *output, int64_t before, unsigned user)
{
	return spooler_discard(output->spooler, before, user);
}

void output_read_discard(const struct output *output, struct discard_state *state)
{
	spooler_read_discard(output->spooler, state);
}

void output_end_uplink(struct output *output)
{
	uplink_destroy(output->uplink);
	output->uplink = NULL;
}

void output_stop_spool(struct output *output)
{
	spooler_stop(output->spooler);
}

bool output_spool_is_over(const struct output *output)
{
	return spooler_is_over(output->spooler);
}

void output_end_spool(struct output *output)
{
	spooler_destroy(output->spooler);
	output->spooler = NULL;
}

void output_drop(struct output *output, bool all)
{
	output->dropped_at_end += queue_drop_waiting(output->queue, !all);
}

void output_destroy(struct output *output, bool drop)
{
	sharing_destroy(output->sharing);
	if (drop)
		queue_end(output->queue);
	else
		queue_leave(output->queue);
	waker_destroy(output->pushed);
	if (output->asks)
		event_free(output->asks);
	wanted_unref(output->wanted);
	g_free(output->directory);
	g_free(output->state);
	g_free(output->name);
	g_free(output);
}
