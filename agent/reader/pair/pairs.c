/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/pair/pairs.h"

#include <string.h>
#include <sys/random.h>

#include <glib.h>

#include "reader/pair/pairsparts.h"

/* Tables */

/* An odd random number, secret from programs: otherwise a program could choose threads that all collide. */
static uint64_t secret;

static uint64_t mix(uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word) * secret;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static guint key_hash(gconstpointer data)
{
	const struct pair_key *key = data;
	uint64_t hash = mix(mix(mix(secret, key->user), (uint64_t)key->pid), (uint64_t)key->tid);

	return (guint)(hash ^ hash >> 32);
}

static gboolean key_equal(gconstpointer one, gconstpointer other)
{
	return memcmp(one, other, sizeof(struct pair_key)) == 0;
}

struct pairs *pairs_create(const struct pairs_limits *limits, struct ledger *change,
	void (*emit)(void *data, const struct span *span), void *data)
{
	struct pairs *pairs = g_new0(struct pairs, 1);

	if (!secret && getrandom(&secret, sizeof(secret), 0) != (ssize_t)sizeof(secret))
		secret = (uint64_t)clock_wall();
	secret |= 1;
	pairs->limits = *limits;
	pairs->change = change;
	pairs->emit = emit;
	pairs->data = data;
	pairs->threads = g_hash_table_new_full(key_hash, key_equal, NULL, g_free);
	pairs->users = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
	TAILQ_INIT(&pairs->open);
	TAILQ_INIT(&pairs->held);
	return pairs;
}

static void destroy_all(struct pair_list *list)
{
	struct pair *pair;

	while ((pair = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, pair, in_order);
		pair_destroy(pair);
	}
}

void pairs_destroy(struct pairs *pairs)
{
	destroy_all(&pairs->open);
	destroy_all(&pairs->held);
	g_hash_table_destroy(pairs->threads);
	g_hash_table_destroy(pairs->users);
	pair_memory_free(&pairs->memory);
	g_free(pairs);
}

size_t pairs_bytes(const struct pairs *pairs)
{
	return pairs->bytes;
}

bool pairs_hold(const struct pairs *pairs)
{
	return pairs->held_bytes > 0;
}

static struct pair_thread *find_thread(struct pairs *pairs, const struct pair_key *key)
{
	struct pair_thread *thread = g_hash_table_lookup(pairs->threads, key);

	if (thread)
		return thread;
	thread = g_new0(struct pair_thread, 1);
	thread->key = *key;
	TAILQ_INIT(&thread->open);
	TAILQ_INIT(&thread->held);
	g_hash_table_insert(pairs->threads, &thread->key, thread);
	return thread;
}

uint64_t pairs_user_number(bool kernel, bool has_user, uint32_t user)
{
	return kernel ? UINT64_C(2) << 32 : has_user ? UINT64_C(1) << 32 | user : 0;
}

/* They stay: there are not many, and none is of a program's choice. */
struct pair_user *pairs_user(struct pairs *pairs, uint64_t number)
{
	struct pair_user *user = g_hash_table_lookup(pairs->users, &number);

	if (user)
		return user;
	user = g_new0(struct pair_user, 1);
	user->number = number;
	user->first = pairs->now;
	user->spans = INT64_MIN;
	TAILQ_INIT(&user->open);
	TAILQ_INIT(&user->held);
	g_hash_table_insert(pairs->users, &user->number, user);
	return user;
}

/* Lists */

/* It is almost always its own end: but a clock may be set back. */
static void put_held(struct pair_list *list, struct pair *pair)
{
	const struct pair *last = TAILQ_LAST(list, pair_list);
	const int64_t end = pair->time + pair->duration;

	pair->ends_by = last ? MAX(last->ends_by, end) : end;
	TAILQ_INSERT_TAIL(list, pair, in_thread);
}

void pairs_put(struct pairs *pairs, struct pair *pair)
{
	const bool held = pair->duration > 0;

	pair->thread = find_thread(pairs, &pair->key);
	pair->user =
		pairs_user(pairs, pairs_user_number(pair->key.kernel, pair->key.has_user, pair->key.user));
	if (held)
		put_held(&pair->thread->held, pair);
	else
		TAILQ_INSERT_TAIL(&pair->thread->open, pair, in_thread);
	TAILQ_INSERT_TAIL(held ? &pairs->held : &pairs->open, pair, in_order);
	TAILQ_INSERT_TAIL(held ? &pair->user->held : &pair->user->open, pair, of_user);
	pair->thread->depth += !held;
	pair->user->bytes += pair_bytes(pair);
	pair->user->held_bytes += held ? pair_bytes(pair) : 0;
	pairs->bytes += pair_bytes(pair);
	pairs->held_bytes += held ? pair_bytes(pair) : 0;
	pairs->count++;
}

void pairs_take_out(struct pairs *pairs, struct pair *pair)
{
	const bool held = pair->duration > 0;
	struct pair_thread *thread = pair->thread;

	TAILQ_REMOVE(held ? &thread->held : &thread->open, pair, in_thread);
	TAILQ_REMOVE(held ? &pairs->held : &pairs->open, pair, in_order);
	TAILQ_REMOVE(held ? &pair->user->held : &pair->user->open, pair, of_user);
	thread->depth -= !held;
	pair->user->bytes -= pair_bytes(pair);
	pair->user->held_bytes -= held ? pair_bytes(pair) : 0;
	pairs->bytes -= pair_bytes(pair);
	pairs->held_bytes -= held ? pair_bytes(pair) : 0;
	pairs->count--;
	if (TAILQ_EMPTY(&thread->open) && TAILQ_EMPTY(&thread->held))
		g_hash_table_remove(pairs->threads, &thread->key);
}

/* Emitting: what is in no list any more is freed. */

/* As a child of @own, if it is one; it was kept from @since on. */
void pairs_emit(struct pairs *pairs, struct pair *pair, const struct span *own, int64_t since)
{
	struct span span = pair_span(pair, &pairs->memory);

	span.last_event += MAX(pairs->now - since, 0);
	if (own) {
		span.trace_id_high = own->trace_id_high;
		span.local = own->local;
		span.last_event = MAX(span.last_event, own->last_event);
	}
	pairs_count(pairs, SPANS_PENDING, -1);
	pairs->emit(pairs->data, &span);
	pair_destroy(pair);
}

static void release(struct pairs *pairs, struct pair *pair)
{
	pairs_take_out(pairs, pair);
	pairs_emit(pairs, pair, NULL, pair->deadline - pairs->limits.hold_ns);
}

void pairs_give_up(struct pairs *pairs, struct pair *pair)
{
	pairs_take_out(pairs, pair);
	pairs_count(pairs, PAIRS_WITHOUT_EXIT, 1);
	pairs_count(pairs, SPANS_CUT_SHORT, 1);
	pairs_emit(pairs, pair, NULL, pair->deadline - PAIR_WAIT_NS);
}

/* Bounds */

/* The user who has most of what is @held, or of all. */
static struct pair_user *find_largest(const struct pairs *pairs, bool held)
{
	struct pair_user *largest = NULL;
	size_t most = 0;
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, pairs->users);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		struct pair_user *user = value;
		size_t bytes = held ? user->held_bytes : user->bytes;

		if (bytes > most) {
			most = bytes;
			largest = user;
		}
	}
	return largest;
}

void pairs_shed(struct pairs *pairs)
{
	struct pair_user *user;

	while (pairs->held_bytes > MIN(PAIR_HELD_MAX, pairs->limits.max_bytes / 2) &&
		(user = find_largest(pairs, true)))
		release(pairs, TAILQ_FIRST(&user->held));
	while (pairs->bytes > pairs->limits.max_bytes && (user = find_largest(pairs, false)))
		if (TAILQ_FIRST(&user->held))
			release(pairs, TAILQ_FIRST(&user->held));
		else
			pairs_give_up(pairs, TAILQ_FIRST(&user->open));
}

/* What is held waits no longer than what comes now, or those behind it would, too. */
static void keep_to_limits(struct pairs *pairs)
{
	struct pair *pair;

	TAILQ_FOREACH(pair, &pairs->held, in_order)
	pair->deadline = MIN(pair->deadline, pairs->now + pairs->limits.hold_ns);
	pairs_shed(pairs);
}

void pairs_configure(struct pairs *pairs, const struct pairs_limits *limits, int64_t now)
{
	pairs->limits = *limits;
	pairs->now = now;
	keep_to_limits(pairs);
}

void pairs_expire(struct pairs *pairs, int64_t now)
{
	struct pair *first;

	pairs->now = now;
	while ((first = TAILQ_FIRST(&pairs->held)) && first->deadline <= now)
		release(pairs, first);
	while ((first = TAILQ_FIRST(&pairs->open)) && first->deadline <= now)
		pairs_give_up(pairs, first);
}

void pairs_flush(struct pairs *pairs)
{
	struct pair *first;

	while ((first = TAILQ_FIRST(&pairs->held)))
		release(pairs, first);
	while ((first = TAILQ_FIRST(&pairs->open)))
		pairs_give_up(pairs, first);
}

/* Checkpoints */

void pairs_save(const struct pairs *pairs, int64_t now, struct buffer *out)
{
	const struct pair_list *lists[] = {&pairs->open, &pairs->held};
	const struct pair *pair;

	if (!pairs->count)
		return;
	pack_u32(out, pairs->count);
	for (int i = 0; i < 2; i++)
		TAILQ_FOREACH(pair, lists[i], in_order)
	pair_save(pair, now, out);
}

bool pairs_load(struct pairs *pairs, struct unpacker from, int64_t now)
{
	uint32_t number = from.at < from.end ? unpack_u32(&from) : 0;
	struct pair_list loaded = TAILQ_HEAD_INITIALIZER(loaded);
	struct pair *pair;

	pairs->now = now;
	for (uint32_t i = 0; i < number && !from.failed; i++) {
		pair = pair_load(&from, now);
		if (pair)
			TAILQ_INSERT_TAIL(&loaded, pair, in_order);
	}
	while ((pair = TAILQ_FIRST(&loaded))) {
		TAILQ_REMOVE(&loaded, pair, in_order);
		if (from.failed) {
			pair_destroy(pair);
			continue;
		}
		pairs_put(pairs, pair);
		pairs_count(pairs, SPANS_MADE, 1);
		pairs_count(pairs, SPANS_PENDING, 1);
	}
	keep_to_limits(pairs);
	return !from.failed;
}
