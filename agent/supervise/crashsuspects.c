/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervise/crashsuspects.h"

#include <pthread.h>

#include "base/clock.h"
#include "base/log.h"

/* So many readers die of a user's trace before it is left out. */
#define STRIKES_MAX 2
/* How long he is left out, and live reading is: twice as long each time, up to the most. */
#define PAUSE_NS (30 * NS_PER_SECOND)
#define PAUSE_MAX_NS (300 * NS_PER_SECOND)
/* What is so long ago does not count any more. */
#define FORGET_NS (2 * PAUSE_MAX_NS)
#define FORGET_LIVE_NS (600 * NS_PER_SECOND)
/* A trace that babeltrace2 refuses is tried in each pass, and refused as often. */
#define REFUSED_NS (60 * NS_PER_SECOND)
/* So many users are remembered. */
#define USERS_MAX 1024

struct entry {
	uint64_t user;
	unsigned strikes; /* readers that died of his trace, since one could read it */
	unsigned times;   /* that he was left out for it */
	int64_t until;    /* he is left out; CLOCK_MONOTONIC ns, as below */
	int64_t refused;  /* when babeltrace2 refused his trace last; 0: never */
	int64_t last;     /* that something was wrong */
	bool too_large;   /* the last reader that died of his trace took too much memory */
};

struct crash_suspects {
	pthread_mutex_t lock;
	GArray *entries; /* of struct entry */
	unsigned live;   /* readers that died of live reading, lately */
	int64_t live_last, files_until;
	bool live_too_large; /* the last of these took too much memory */
	int64_t died;        /* when the last reader did: the next one reads each user alone; 0: none has */
};

struct crash_suspects *crash_suspects_create(void)
{
	struct crash_suspects *suspects = g_new0(struct crash_suspects, 1);

	pthread_mutex_init(&suspects->lock, NULL);
	suspects->entries = g_array_new(FALSE, TRUE, sizeof(struct entry));
	return suspects;
}

void crash_suspects_destroy(struct crash_suspects *suspects)
{
	g_array_unref(suspects->entries);
	pthread_mutex_destroy(&suspects->lock);
	g_free(suspects);
}

static struct entry *entry_at(const struct crash_suspects *suspects, guint index)
{
	return &g_array_index(suspects->entries, struct entry, index);
}

/* Forgets what is long ago. */
static void tidy(struct crash_suspects *suspects, int64_t now)
{
	for (guint i = suspects->entries->len; i > 0; i--)
		if (now - entry_at(suspects, i - 1)->last > FORGET_NS)
			g_array_remove_index_fast(suspects->entries, i - 1);
}

/* The user's entry, made if there is none. */
static struct entry *entry_of(struct crash_suspects *suspects, uint64_t user, int64_t now)
{
	struct entry fresh = {.user = user};
	guint i = 0;

	tidy(suspects, now);
	while (i < suspects->entries->len && entry_at(suspects, i)->user != user)
		i++;
	if (i == USERS_MAX)
		g_array_remove_index_fast(suspects->entries, --i);
	if (i == suspects->entries->len)
		g_array_append_val(suspects->entries, fresh);
	entry_at(suspects, i)->last = now;
	return entry_at(suspects, i);
}

static void strike(struct crash_suspects *suspects, uint64_t user, enum death death, int64_t now)
{
	struct entry *entry = entry_of(suspects, user, now);

	entry->too_large = death == DEATH_TOO_LARGE;
	if (++entry->strikes < STRIKES_MAX)
		return;
	entry->until = now + clock_backoff(PAUSE_NS, entry->times, PAUSE_MAX_NS);
	if (entry->times++ == 0)
		log_warning("what programs of user %" G_GUINT64_FORMAT
			    " record ends the process that reads it: it is skipped, and counted as lost; it "
			    "is tried again after %d s, then less and less often",
			user, (int)(PAUSE_NS / NS_PER_SECOND));
}

static void strike_live(struct crash_suspects *suspects, enum death death, int64_t now)
{
	bool hung = death == DEATH_HUNG;

	if (now - suspects->live_last > FORGET_LIVE_NS && now > suspects->files_until)
		suspects->live = 0;
	suspects->live_last = now;
	suspects->live_too_large = death == DEATH_TOO_LARGE;
	suspects->live += suspects->live == 0 && hung; /* the next one would hang too, for as long */
	if (suspects->live++)
		suspects->files_until = now + clock_backoff(PAUSE_NS, suspects->live - 2, PAUSE_MAX_NS);
}

void crash_suspects_died(struct crash_suspects *suspects, const uint64_t *user, bool live, enum death death)
{
	int64_t now = clock_monotonic();

	pthread_mutex_lock(&suspects->lock);
	if (user)
		strike(suspects, *user, death, now);
	else if (live)
		strike_live(suspects, death, now);
	suspects->died = now;
	pthread_mutex_unlock(&suspects->lock);
}

void crash_suspects_unreadable(struct crash_suspects *suspects, const struct unreadable *unreadable)
{
	int64_t now = clock_monotonic();
	struct entry *entry;
	bool first;

	pthread_mutex_lock(&suspects->lock);
	entry = entry_of(suspects, unreadable->user, now);
	first = !entry->refused && !entry->times;
	if (now >= entry->until)
		entry->refused = now;
	pthread_mutex_unlock(&suspects->lock);
	if (first)
		log_warning("what programs of user %" G_GUINT64_FORMAT
			    " record cannot be read, and is skipped and counted as lost until it can: %s; "
			    "%" G_GUINT64_FORMAT " packets to begin with",
			unreadable->user, unreadable->error, unreadable->packets);
}

void crash_suspects_well(struct crash_suspects *suspects, uint64_t user)
{
	struct entry *entry;

	pthread_mutex_lock(&suspects->lock);
	entry = entry_of(suspects, user, clock_monotonic());
	if (entry->times && entry->strikes >= STRIKES_MAX)
		log_info("what programs of user %" G_GUINT64_FORMAT " record can be read again", user);
	/* the next one that dies of it is one too many */
	entry->strikes = MIN(entry->strikes, entry->times ? STRIKES_MAX - 1 : 0);
	entry->until = 0;
	pthread_mutex_unlock(&suspects->lock);
}

void crash_suspects_order(const struct crash_suspects *suspects, struct orders *orders)
{
	int64_t now = clock_monotonic();

	orders->alone = suspects->died && now - suspects->died < FORGET_LIVE_NS;
	orders->files = MAX(suspects->files_until - now, 0);
	orders->suspects = g_array_new(FALSE, FALSE, sizeof(struct suspect));
	for (guint i = 0; i < suspects->entries->len; i++) {
		const struct entry *entry = entry_at(suspects, i);
		struct suspect suspect = {entry->user, MAX(entry->until - now, 0)};

		if (entry->strikes)
			g_array_append_val(orders->suspects, suspect);
	}
}

static bool is_left_out(const struct entry *entry, int64_t now)
{
	return entry->until > now || (entry->refused && now - entry->refused < REFUSED_NS);
}

unsigned crash_suspects_left_out(struct crash_suspects *suspects, uint64_t *users, unsigned max)
{
	int64_t now = clock_monotonic();
	unsigned count = 0;

	pthread_mutex_lock(&suspects->lock);
	for (guint i = 0; i < suspects->entries->len; i++) {
		if (!is_left_out(entry_at(suspects, i), now))
			continue;
		if (count < max)
			users[count] = entry_at(suspects, i)->user;
		count++;
	}
	pthread_mutex_unlock(&suspects->lock);
	return count;
}

bool crash_suspects_too_large(struct crash_suspects *suspects)
{
	int64_t now = clock_monotonic();
	bool found;

	pthread_mutex_lock(&suspects->lock);
	found = suspects->files_until > now && suspects->live_too_large;
	for (guint i = 0; i < suspects->entries->len; i++)
		found |= entry_at(suspects, i)->until > now && entry_at(suspects, i)->too_large;
	pthread_mutex_unlock(&suspects->lock);
	return found;
}
