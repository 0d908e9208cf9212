/* SPDX-License-Identifier: BSD-2-Clause */
/* Events, and programs' own spans, come to the pairs: pairs.h. */
#include <string.h>

#include "base/siphash.h"
#include "reader/pair/pairsparts.h"

/* What is over is held if its user's programs are new here, or have recorded a span of their own in this
 * time. */
#define NEW_NS (60 * NS_PER_SECOND)
#define SPANS_NS (600 * NS_PER_SECOND)

/* A program reads its clock before LTTng does, and by less than this it may be behind. */
#define CLOCK_SLACK_NS 1000

/* The same for everyone, so that ids are, too. */
static const uint8_t fixed[SIPHASH_KEY_SIZE];

/* Most events are of one host. */
static uint64_t number_of_host(struct pairs *pairs, struct text host)
{
	if (!host.size)
		return 0;
	if (!text_is_equal(host, (struct text){pairs->host, pairs->host_size})) {
		pairs->host_number = siphash(fixed, host.data, host.size);
		pairs->host_size = MIN(host.size, sizeof(pairs->host));
		memcpy(pairs->host, host.data, pairs->host_size);
	}
	return pairs->host_number;
}

static uint64_t number_of_place(struct pairs *pairs, const struct pair_event *event)
{
	uint64_t space = event->space.known ? (uint64_t)event->space.value : 0;

	return number_of_host(pairs, event->host) ^ space * UINT64_C(0x9e3779b97f4a7c15);
}

static struct pair_key key_of(const struct pair_event *event)
{
	return (struct pair_key){.pid = event->pid.known ? event->pid.value : -1,
		.tid = event->tid.value,
		.user = event->has_user ? event->user : 0,
		.has_user = event->has_user,
		.kernel = event->kernel};
}

/* Not of the user, whom who reads files later does not know. */
static uint64_t make_id(const struct pair *pair, const struct pair_event *event)
{
	const uint64_t numbers[] = {
		pair->where, event->number, (uint64_t)pair->key.pid, (uint64_t)pair->key.tid, event->moment};
	uint64_t id = siphash(fixed, numbers, sizeof(numbers));

	return id ? id : 1;
}

static uint32_t put_part(struct pair *pair, struct text text)
{
	buffer_put(&pair->text, text.data, text.size);
	return text.size;
}

static struct pair *make_pair(struct pairs *pairs, const struct pair_event *event)
{
	struct pair *pair = g_new0(struct pair, 1);

	pair->key = key_of(event);
	pair->where = number_of_place(pairs, event);
	pair->kind = event->exit;
	pair->time = event->time;
	pair->traced = event->traced;
	pair->deadline = pairs->now + PAIR_WAIT_NS;
	pair->is_cut = event->is_cut;
	buffer_reserve(&pair->text,
		(size_t)event->pair.size + event->name.size + event->program.size + event->fields.size);
	pair->pair_size = put_part(pair, event->pair);
	pair->name_size = put_part(pair, event->name);
	pair->program_size = put_part(pair, event->program);
	pair->enter_size = put_part(pair, event->fields);
	pair->id = pair->trace_id = make_id(pair, event);
	return pair;
}

/* The innermost one that is its parent's. */
static const struct pair *find_parent(struct pairs *pairs, const struct pair *pair)
{
	const struct pair_thread *thread = g_hash_table_lookup(pairs->threads, &pair->key);
	const struct pair *each;

	if (!thread)
		return NULL;
	TAILQ_FOREACH_REVERSE(each, &thread->open, pair_list, in_thread)
	if (each->where == pair->where && !each->apart)
		return each;
	return NULL;
}

static void enter(struct pairs *pairs, const struct pair_event *event)
{
	struct pair *pair = make_pair(pairs, event);
	const struct pair *parent = find_parent(pairs, pair);

	if (parent) {
		pair->trace_id = parent->trace_id;
		pair->parent_id = parent->id;
	}
	pairs_count(pairs, SPANS_MADE, 1);
	pairs_count(pairs, SPANS_PENDING, 1);
	pairs_put(pairs, pair);
	if (pair->thread->depth > PAIR_DEPTH_MAX)
		pairs_give_up(pairs, TAILQ_FIRST(&pair->thread->open));
	pairs_shed(pairs);
}

/* The innermost one that the event ends. */
static struct pair *find_open(struct pairs *pairs, const struct pair_event *event)
{
	const struct pair_key key = key_of(event);
	const struct pair_thread *thread = g_hash_table_lookup(pairs->threads, &key);
	const uint64_t where = number_of_place(pairs, event), kind = event->exit;
	struct pair *each;

	if (!thread)
		return NULL;
	TAILQ_FOREACH_REVERSE(each, &thread->open, pair_list, in_thread)
	if (each->where == where && each->kind == kind)
		return each;
	return NULL;
}

/* What was entered within the pair has not come to its end before it. */
static void set_apart(const struct pair *pair)
{
	struct pair *inner = TAILQ_NEXT(pair, in_thread);

	for (; inner; inner = TAILQ_NEXT(inner, in_thread))
		inner->apart |= inner->where == pair->where;
}

/* Whether a span of the program's own may come in which it lies. */
static bool is_to_be_held(const struct pairs *pairs, const struct pair *pair)
{
	const struct pair_user *user = pair->user;

	if (pair->key.kernel || pairs->limits.hold_ns <= 0)
		return false;
	return pairs->now - user->first < NEW_NS ||
	       (user->spans != INT64_MIN && pairs->now - user->spans < SPANS_NS);
}

static enum ledger_row leave(struct pairs *pairs, const struct pair_event *event)
{
	struct pair *pair = find_open(pairs, event);

	if (!pair) {
		pairs_count(pairs, PAIRS_WITHOUT_ENTER, 1);
		return EVENTS_IGNORED;
	}
	if (event->traced < pair->traced) {
		pairs_count(pairs, PAIRS_MALFORMED, 1);
		return EVENTS_REJECTED_TIME;
	}
	set_apart(pair);
	pairs_take_out(pairs, pair);
	pair->duration = MAX(event->traced - pair->traced, 1);
	pair->is_cut |= event->is_cut;
	pair->exit_size = put_part(pair, event->fields);
	if (is_to_be_held(pairs, pair)) {
		pair->deadline = pairs->now + pairs->limits.hold_ns;
		pairs_put(pairs, pair);
		pairs_shed(pairs);
	} else {
		pairs_emit(pairs, pair, NULL, pairs->now);
	}
	return EVENTS_IN_SPANS;
}

enum ledger_row pairs_take(struct pairs *pairs, const struct pair_event *event, int64_t now)
{
	pairs->now = now;
	if (!event->tid.known) {
		pairs_count(pairs, PAIRS_MALFORMED, 1);
		return EVENTS_REJECTED_MALFORMED;
	}
	if (event->time <= 0 || event->time > PAIR_TIME_MAX || event->traced <= 0 ||
		event->traced > PAIR_TIME_MAX) {
		pairs_count(pairs, PAIRS_MALFORMED, 1);
		return EVENTS_REJECTED_TIME;
	}
	if (event->exits)
		return leave(pairs, event);
	enter(pairs, event);
	return EVENTS_IN_SPANS;
}

/* Spans of the program's own */

static bool lies_in(const struct pair *pair, const struct span *span)
{
	return pair->time >= span->timestamp &&
	       pair->time + pair->duration <= span_end(span) + CLOCK_SLACK_NS;
}

/* The next one that may lie in the span, @pair or NULL: there may be thousands before it that cannot, and all
 * spans of the thread come here. */
static struct pair *in_reach(struct pair *pair, const struct span *span)
{
	return pair && pair->ends_by >= span->timestamp ? pair : NULL;
}

static struct pair *last_in_reach(const struct pair_thread *thread, const struct span *span)
{
	return in_reach(TAILQ_LAST(&thread->held, pair_list), span);
}

static struct pair *before_it(const struct pair *pair, const struct span *span)
{
	return in_reach(TAILQ_PREV(pair, pair_list, in_thread), span);
}

/* Whether what lies in the span is of one thread only, as threads of two containers may have the same
 * numbers. */
static bool is_one_thread(const struct pair_thread *thread, const struct span *span)
{
	const struct pair *each = last_in_reach(thread, span), *last = NULL;

	for (; each; each = before_it(each, span)) {
		if (!lies_in(each, span))
			continue;
		if (last && each->where != last->where)
			return false;
		last = each;
	}
	return true;
}

/* Those that end later come first, so whatever begins behind the last one that is a child of the span lies
 * within that. */
static void adopt_all(struct pairs *pairs, struct pair_thread *thread, const struct span *span)
{
	struct pair *pair = last_in_reach(thread, span), *before;
	int64_t outer = INT64_MAX;

	for (; pair; pair = before) {
		/* the last one takes its thread along */
		before = before_it(pair, span);
		if (!lies_in(pair, span))
			continue;
		if (pair->time < outer) {
			outer = pair->time;
			pair->parent_id = span->id;
		}
		pair->trace_id = span->trace_id;
		pairs_take_out(pairs, pair);
		pairs_emit(pairs, pair, span, pair->deadline - pairs->limits.hold_ns);
	}
}

void pairs_adopt(struct pairs *pairs, const struct span *span, int64_t tid, int64_t now)
{
	const struct pair_key key = {
		.pid = span->pid, .tid = tid, .user = span->user, .has_user = span->has_user};
	struct pair_thread *thread;

	pairs->now = now;
	pairs_user(pairs, pairs_user_number(false, span->has_user, span->user))->spans = now;
	thread = g_hash_table_lookup(pairs->threads, &key);
	if (thread && is_one_thread(thread, span))
		adopt_all(pairs, thread, span);
}
