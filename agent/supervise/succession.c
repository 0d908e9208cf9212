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
static void schedule(struct supervisor *supervisor, bool fault)
{
	int64_t now = clock_monotonic();
	bool soon = now - supervisor->child.started < (fault ? SOON_NS : AT_ONCE_NS);

	supervisor->start_next = now;
	if (soon && supervisor->failures)
		supervisor->start_next += clock_backoff(RESTART_NS, supervisor->failures - 1, RESTART_MAX_NS);
	supervisor->failures = soon ? supervisor->failures + 1 : 1;
}

static void log_end(struct supervisor *supervisor, const char *how)
{
	int64_t now = clock_monotonic();
	bool news = !supervisor->greeted && !supervisor->start_told;

	supervisor->start_told |= !supervisor->greeted;
	if (!news && supervisor->logged && now - supervisor->logged < LOG_NS) {
		supervisor->unlogged++;
		return;
	}
	if (supervisor->unlogged)
		log_warning("the process that reads the session %s, and %u more did in the last minute; "
			    "another one continues",
			how, supervisor->unlogged);
	else
		log_warning("the process that reads the session %s; another one continues", how);
	supervisor->logged = now;
	supervisor->unlogged = 0;
}

void succession_start(struct supervisor *supervisor)
{
	struct page *page = supervisor->page;
	const struct buffer *position;
	uint64_t number, max_pending;
	bool holds;
	char error[256];
	int end;

	atomic_store(&page->alone, 0);
	atomic_store(&page->live, 0);
	atomic_store(&page->called, DAEMON_NONE);
	atomic_store(&page->moved, clock_monotonic());
	ring_reset(&page->ring);
	supervisor->leave_told = supervisor->left = false;
	supervisor->greeted = supervisor->stop_told = supervisor->misspoke = supervisor->finished = false;
	pthread_mutex_lock(&supervisor->lock);
	end = child_start(&supervisor->child, supervisor->page_fd, &supervisor->config, error, sizeof(error));
	supervisor->configured = supervisor->renew = false;
	max_pending = supervisor->settings.max_pending;
	pthread_mutex_unlock(&supervisor->lock);
	if (end < 0) {
		schedule(supervisor, true);
		log_end(supervisor, error);
		reader_status_ended(&supervisor->status, false, error);
		return;
	}
	/* what it takes up may be more than what it may have pending from now on */
	position = checkpoint_newest(supervisor->options.checkpoint, &number, &holds);
	channel_init(
		&supervisor->channel, end, &page->ring, FRAME_MAX + 2 * MAX(max_pending, position->size));
}

static enum death death_of(const struct supervisor *supervisor)
{
	if (supervisor->child.too_large)
		return DEATH_TOO_LARGE;
	return supervisor->child.killed && atomic_load(&supervisor->page->called) == DAEMON_RELAY
		       ? DEATH_HUNG
		       : DEATH_PLAIN;
}

/* Whose fault it is */
static void find_culprit(struct supervisor *supervisor)
{
	uint64_t alone = atomic_load(&supervisor->page->alone), user = alone - 1;

	crash_suspects_died(supervisor->suspects, alone ? &user : NULL,
		atomic_load(&supervisor->page->live) != 0, death_of(supervisor));
}

void succession_end(struct supervisor *supervisor, int64_t patience_ns)
{
	char how[128], why[256];
	bool greeted = supervisor->greeted;
	enum child_end end = child_end(&supervisor->child, patience_ns, how, sizeof(how));

	if (supervisor->misspoke) {
		snprintf(how, sizeof(how), "sent what the agent does not understand, and was killed");
		end = CHILD_FAULT;
	}
	channel_free(&supervisor->channel);
	ledger_forget_pending();
	atomic_store(&supervisor->page->called, DAEMON_NONE);
	if (supervisor->finished || supervisor->ended)
		return;
	if (supervisor->left) {
		supervisor->start_next = clock_monotonic();
		return;
	}
	ledger_add(READER_RESTARTS, 1);
	if (end == CHILD_FAULT && greeted && !supervisor->misspoke)
		find_culprit(supervisor);
	schedule(supervisor, end == CHILD_FAULT);
	snprintf(why, sizeof(why), "the process that reads the session %s; another one is started", how);
	reader_status_ended(&supervisor->status, greeted && supervisor->failures < FAILURES_MAX, why);
	log_end(supervisor, how);
}
