/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/wanted.h"

#include <pthread.h>
#include <stdatomic.h>

#include <glib.h>

#include "base/clock.h"
#include "base/siphash.h"
#include "core/ledger.h"
#include "queue/tracehash.h"

/* So long a trace is remembered, for who comes later; */
#define LIFE_NS (60 * NS_PER_SECOND)
/* and so long it is not taken again. Later, who was told may have forgotten it. */
#define AGAIN_NS (2 * NS_PER_SECOND)
/* So many from above, as the agent there has shared them out already, and its seconds are others. */
#define ABOVE_SECOND_MAX (2 * WANTED_SECOND_MAX)
/* No more say something in a second. */
#define SHARERS_MAX 4096
/* Who waits says so once a second. */
#define NOTED_NS (3 * NS_PER_SECOND)

struct told {
	struct trace_id id; /* first, as the key */
	enum wanted_by by;
	uint64_t place;  /* the number of who said it */
	uint64_t number; /* they are numbered in a row; where it is stands: by this, modulo WANTED_MAX */
	int64_t at;
};

struct wanted {
	atomic_uint owners;
	_Atomic uint64_t numbers;     /* given to places */
	_Atomic int64_t waits, hears; /* when it was noted */
	_Atomic uint64_t next;        /* number; changed with the lock only */
	pthread_mutex_t lock;         /* guards what follows */
	uint64_t first;               /* the oldest one's number */
	uint64_t lost;                /* those below had to make room */
	struct told *told;            /* of WANTED_MAX; NULL: there was none yet */
	GHashTable *latest;           /* of struct told: the latest of each id */
	GHashTable *spent;            /* by sharer (int64_t): how many were taken in this second */
	int64_t second;
	guint above;          /* and how many were of those above */
	guint sharers_before; /* how many there were in the one before */
	uint8_t key[SIPHASH_KEY_SIZE];
};

struct wanted *wanted_create(void)
{
	struct wanted *wanted = g_new0(struct wanted, 1);

	atomic_init(&wanted->owners, 1);
	atomic_init(&wanted->next, 1);
	wanted->first = 1;
	pthread_mutex_init(&wanted->lock, NULL);
	wanted->latest = g_hash_table_new(tracehash, tracehash_equal);
	wanted->spent = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	/* nobody can choose an address that counts as another one */
	for (size_t i = 0; i < SIPHASH_KEY_SIZE; i++)
		wanted->key[i] = (uint8_t)g_random_int();
	return wanted;
}

struct wanted *wanted_ref(struct wanted *wanted)
{
	if (wanted)
		atomic_fetch_add_explicit(&wanted->owners, 1, memory_order_relaxed);
	return wanted;
}

void wanted_unref(struct wanted *wanted)
{
	if (!wanted || atomic_fetch_sub_explicit(&wanted->owners, 1, memory_order_acq_rel) > 1)
		return;
	g_hash_table_unref(wanted->latest);
	g_hash_table_unref(wanted->spent);
	g_free(wanted->told);
	pthread_mutex_destroy(&wanted->lock);
	g_free(wanted);
}

uint64_t wanted_number(struct wanted *wanted)
{
	return atomic_fetch_add(&wanted->numbers, 1) + 1;
}

uint64_t wanted_sharer(const struct wanted *wanted, const void *who, size_t size)
{
	return siphash(wanted->key, who, size);
}

/* Adding */

static struct told *told_at(const struct wanted *wanted, uint64_t number)
{
	return &wanted->told[number % WANTED_MAX];
}

static void forget_first(struct wanted *wanted)
{
	struct told *told = told_at(wanted, wanted->first++);

	if (g_hash_table_lookup(wanted->latest, told) == told)
		g_hash_table_remove(wanted->latest, told);
}

static void forget_old(struct wanted *wanted, int64_t now)
{
	while (wanted->first < wanted->next && now - told_at(wanted, wanted->first)->at > LIFE_NS)
		forget_first(wanted);
}

/* Whether all who would be told now were told a moment ago. */
static bool is_known(const struct wanted *wanted, const struct told *told)
{
	const struct told *before = g_hash_table_lookup(wanted->latest, told);

	return before && told->at - before->at < AGAIN_NS &&
	       (before->by == WANTED_BELOW || before->place == told->place);
}

/* Each second there is room for so many, and each sharer's part of that is as large as the others'. */
static bool has_room(struct wanted *wanted, enum wanted_by by, uint64_t sharer, int64_t now)
{
	int64_t second = now / NS_PER_SECOND, *key;
	guint count, sharers;

	if (second != wanted->second) {
		wanted->sharers_before = second == wanted->second + 1 ? g_hash_table_size(wanted->spent) : 0;
		g_hash_table_remove_all(wanted->spent);
		wanted->second = second;
		wanted->above = 0;
	}
	if (by == WANTED_ABOVE)
		return wanted->above++ < ABOVE_SECOND_MAX;
	count = GPOINTER_TO_UINT(g_hash_table_lookup(wanted->spent, &sharer));
	sharers = g_hash_table_size(wanted->spent) + !count;
	if (sharers > SHARERS_MAX ||
		count >= MAX(WANTED_SECOND_MAX / MAX(sharers, wanted->sharers_before), 1))
		return false;
	key = g_new(int64_t, 1);
	*key = (int64_t)sharer;
	g_hash_table_replace(wanted->spent, key, GUINT_TO_POINTER(count + 1));
	return true;
}

static void put(struct wanted *wanted, struct told *told)
{
	struct told *at;

	if (!wanted->told)
		wanted->told = g_new0(struct told, WANTED_MAX);
	if (wanted->next - wanted->first == WANTED_MAX) {
		forget_first(wanted);
		wanted->lost = wanted->first;
	}
	told->number = wanted->next;
	at = told_at(wanted, told->number);
	*at = *told;
	g_hash_table_add(wanted->latest, at);
	atomic_store_explicit(&wanted->next, told->number + 1, memory_order_release);
}

bool wanted_add(struct wanted *wanted, const struct trace_id *id, const struct wanted_place *place,
	uint64_t sharer, int64_t now)
{
	struct told told = {.id = *id, .by = place->by, .place = place->number, .at = now};
	bool known, room;

	pthread_mutex_lock(&wanted->lock);
	forget_old(wanted, now);
	known = is_known(wanted, &told);
	room = !known && has_room(wanted, place->by, sharer, now);
	if (room)
		put(wanted, &told);
	pthread_mutex_unlock(&wanted->lock);
	if (!known && !room)
		wanted_add_untold(1);
	return room;
}

void wanted_add_untold(uint64_t count)
{
	if (count)
		ledger_add(TRACES_NOT_TOLD, (int64_t)count);
}

/* Reading */

static bool is_for(const struct told *told, const struct wanted_place *reader)
{
	switch (reader->by) {
	case WANTED_HERE:
		return told->by == WANTED_BELOW || told->place == reader->number;
	case WANTED_ABOVE:
		return told->by == WANTED_BELOW || (told->by == WANTED_HERE && told->place == reader->number);
	default:
		return told->place != reader->number;
	}
}

/* How many a reader who was there before comes too late for. */
static uint64_t missed_by(const struct wanted *wanted, const struct wanted_reader *reader)
{
	return reader->next && reader->next < wanted->lost ? wanted->lost - reader->next : 0;
}

uint32_t wanted_read(struct wanted *wanted, struct wanted_reader *reader, struct trace_id *ids,
	enum wanted_by *by, uint32_t max, int64_t now)
{
	uint64_t missed;
	uint32_t count = 0;

	if (reader->next == atomic_load_explicit(&wanted->next, memory_order_acquire))
		return 0;
	pthread_mutex_lock(&wanted->lock);
	missed = missed_by(wanted, reader);
	forget_old(wanted, now);
	reader->next = MAX(reader->next, wanted->first);
	for (; count < max && reader->next < wanted->next; reader->next++) {
		const struct told *told = told_at(wanted, reader->next);

		if (!is_for(told, &reader->place))
			continue;
		if (by)
			by[count] = told->by;
		ids[count++] = told->id;
	}
	pthread_mutex_unlock(&wanted->lock);
	wanted_add_untold(missed);
	return count;
}

bool wanted_has_more(const struct wanted *wanted, const struct wanted_reader *reader)
{
	return reader->next < atomic_load_explicit(&wanted->next, memory_order_acquire) &&
	       (reader->next || atomic_load(&wanted->next) > 1);
}

/* Who waits */

static _Atomic int64_t *noted(struct wanted *wanted, enum wanted_by who)
{
	return who == WANTED_BELOW ? &wanted->hears : &wanted->waits;
}

void wanted_note(struct wanted *wanted, enum wanted_by who, int64_t now)
{
	atomic_store_explicit(noted(wanted, who), now, memory_order_relaxed);
}

bool wanted_is_noted(struct wanted *wanted, enum wanted_by who, int64_t now)
{
	int64_t at = atomic_load_explicit(noted(wanted, who), memory_order_relaxed);

	return at && now - at < NOTED_NS;
}
