/* SPDX-License-Identifier: BSD-2-Clause */
/* One reader after the other: inner.h. */
#include <stdio.h>

#include "base/clock.h"
#include "base/log.h"
#include "supervise/inner.h"

/* The pause before another reader is started: none at first; when readers end soon, longer, up to the most.
 */
#define RESTART_NS (100 * NS_PER_MS)
#define RESTART_MAX_NS (5 * NS_PER_SECOND)
#define SOON_NS (10 * NS_PER_SECOND)
#define AT_ONCE_NS (1 * NS_PER_SECOND)
/* If so many in a row ended soon, nothing is collected. */
#define FAILURES_MAX 4
/* What the log says of readers that end, at most so often. */
#define LOG_NS (60 * NS_PER_SECOND)

/* If readers end soon by themselves, the next one is started later. */
static void schedule(struct collector *collector, bool fault)
{
	int64_t now = clock_monotonic();
	bool soon = now - collector->child.started < (fault ? SOON_NS : AT_ONCE_NS);

	collector->start_next = now;
	if (soon && collector->failures)
		collector->start_next += clock_backoff(RESTART_NS, collector->failures - 1, RESTART_MAX_NS);
	collector->failures = soon ? collector->failures + 1 : 1;
}

static void log_end(struct collector *collector, const char *how)
{
	int64_t now = clock_monotonic();
	bool news = !collector->greeted && !collector->start_told;

	collector->start_told |= !collector->greeted;
	if (!news && collector->logged && now - collector->logged < LOG_NS) {
		collector->unlogged++;
		return;
	}
	if (collector->unlogged)
		log_warning("the process that reads the session %s, and %u more did in the last minute; "
			    "another one continues",
			how, collector->unlogged);
	else
		log_warning("the process that reads the session %s; another one continues", how);
	collector->logged = now;
	collector->unlogged = 0;
}

void succession_start(struct collector *collector)
{
	struct page *page = collector->page;
	const struct buffer *place;
	uint64_t number;
	bool holds;
	char error[256];
	int end;

	atomic_store(&page->alone, 0);
	atomic_store(&page->live, 0);
	atomic_store(&page->called, DAEMON_NONE);
	atomic_store(&page->moved, clock_monotonic());
	ring_reset(&page->ring);
	collector->leave_told = collector->left = false;
	collector->greeted = collector->stop_told = collector->misspoke = collector->finished = false;
	pthread_mutex_lock(&collector->lock);
	end = child_start(&collector->child, collector->page_fd, &collector->config, error, sizeof(error));
	collector->configured = collector->renew = false;
	pthread_mutex_unlock(&collector->lock);
	if (end < 0) {
		schedule(collector, true);
		log_end(collector, error);
		shown_ended(&collector->shown, false, error);
		return;
	}
	/* what it takes up may be more than what it may have pending from now on */
	place = books_newest(collector->options.books, &number, &holds);
	channel_init(&collector->channel, end, &page->ring,
		FRAME_MAX + 2 * MAX(collector->settings.max_pending, place->size));
}

/* Whose fault it is */
static void find_culprit(struct collector *collector)
{
	uint64_t alone = atomic_load(&collector->page->alone), user = alone - 1;

	blame_died(collector->suspects, alone ? &user : NULL, atomic_load(&collector->page->live) != 0,
		collector->child.killed && atomic_load(&collector->page->called) == DAEMON_RELAY);
}

void succession_end(struct collector *collector, int64_t patience_ns)
{
	char how[128], why[256];
	bool greeted = collector->greeted;
	enum child_end end = child_end(&collector->child, patience_ns, how, sizeof(how));

	if (collector->misspoke) {
		snprintf(how, sizeof(how), "sent what the agent does not understand, and was killed");
		end = CHILD_FAULT;
	}
	channel_free(&collector->channel);
	ledger_forget_pending();
	atomic_store(&collector->page->called, DAEMON_NONE);
	if (collector->finished || collector->ended)
		return;
	if (collector->left) {
		collector->start_next = clock_monotonic();
		return;
	}
	ledger_add(READER_RESTARTS, 1);
	if (end == CHILD_FAULT && greeted && !collector->misspoke)
		find_culprit(collector);
	schedule(collector, end == CHILD_FAULT);
	snprintf(why, sizeof(why), "the process that reads the session %s; another one is started", how);
	shown_ended(&collector->shown, greeted && collector->failures < FAILURES_MAX, why);
	log_end(collector, how);
}
