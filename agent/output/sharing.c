/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/sharing.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "output/budget.h"
#include "output/grant.h"

#define EVERY_NS (1 * NS_PER_SECOND)
/* Bytes of the file, which has one line. */
#define TEXT_MAX 256
/* How much a second changes the rate that is shown. */
#define KEPT_WEIGHT 0.2

struct sharing {
	struct queue *queue;
	const struct output_config *is;
	struct event *tick;
	struct budget budget;
	struct budget_second before; /* the quota's counts at the last tick, */
	int64_t looked;              /* CLOCK_MONOTONIC ns */
	struct grant grant;
	struct grant_second given; /* the same of the account's */
	double file_part;          /* what the file said last; 0: nothing yet */
	struct sharing_state state;
};

/* The file */

/* "1/12.5", and nothing else but space: an exponent is fine, but not the hexadecimal number that strtod
 * takes, too. */
static bool parse(const char *text, double *part)
{
	char *end;
	size_t digits;
	double one_in;

	if (!g_str_has_prefix(text, "1/") || !g_ascii_isdigit(text[2]))
		return false;
	digits = strspn(text + 2, "0123456789.eE+");
	one_in = g_ascii_strtod(text + 2, &end);
	if (end != text + 2 + digits)
		return false;
	end += strspn(end, " \t\r\n");
	if (*end || !(one_in >= 1) || one_in > 1e6)
		return false;
	*part = 1 / one_in;
	return true;
}

bool sharing_read_file(const char *path, double *part, char *why, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char text[TEXT_MAX + 1];
	struct stat file;
	ssize_t length = -1;

	if (fd >= 0 && fstat(fd, &file) == 0 && S_ISREG(file.st_mode))
		length = read(fd, text, TEXT_MAX);
	else if (fd >= 0)
		errno = EINVAL;
	if (length < 0)
		snprintf(why, size, "%s: %s", path, g_strerror(errno));
	if (fd >= 0)
		close(fd);
	if (length < 0)
		return false;
	text[length] = '\0';
	if (parse(text, part))
		return true;
	snprintf(why, size, "%s: it must have one line with a share of the traces, such as 1/1 or 1/12.5",
		path);
	return false;
}

static void look_into_file(struct sharing *sharing)
{
	char why[sizeof(sharing->state.error)] = "";

	if (!*sharing->is->budget_file)
		sharing->file_part = 0;
	else if (!sharing_read_file(sharing->is->budget_file, &sharing->file_part, why, sizeof(why)) &&
		 !*sharing->state.error)
		log_warning("[%s]: %s: the share stays as it is", sharing->is->section, why);
	g_strlcpy(sharing->state.error, why, sizeof(sharing->state.error));
}

/* Each second */

static uint64_t get(_Atomic uint64_t *count)
{
	return atomic_load_explicit(count, memory_order_relaxed);
}

/* What has come since the last time. */
static struct budget_second count(struct sharing *sharing)
{
	struct quota *quota = queue_quota(sharing->queue);
	int64_t now = clock_monotonic();
	struct budget_second all = {.came = (double)get(&quota->came),
				     .kept = (double)get(&quota->kept),
				     .told = (double)get(&quota->told),
				     .before = (double)get(&quota->before)},
			     is = {
				     .seconds = (double)(now - sharing->looked) / (double)NS_PER_SECOND,
				     .came = all.came - sharing->before.came,
				     .kept = all.kept - sharing->before.kept,
				     .told = all.told - sharing->before.told,
				     .before = all.before - sharing->before.before,
			     };

	sharing->before = all;
	sharing->looked = now;
	return is;
}

/* A second more has passed. */
static void step(struct sharing *sharing, const struct budget_second *second)
{
	const double rate = (double)sharing->is->budget;

	sharing->budget.part = sharing->state.part;
	budget_step(&sharing->budget, rate > 0 ? rate : INFINITY, second);
	sharing->state.kept += KEPT_WEIGHT * (second->kept / MAX(second->seconds, 0.1) - sharing->state.kept);
}

static void decide(struct sharing *sharing)
{
	struct quota *quota = queue_quota(sharing->queue);
	uint64_t learned = get(&quota->learned);
	bool known = true;

	if (sharing->file_part > 0) {
		sharing->state.by = SHARING_FILE;
		sharing->state.part = sharing->file_part;
	} else if (learned) {
		sharing->state.by = SHARING_SERVER;
		sharing->state.part = quota_part(learned);
	} else {
		sharing->state.by = sharing->is->budget ? SHARING_BUDGET : SHARING_NOBODY;
		sharing->state.part = sharing->budget.part;
		known = sharing->is->budget && budget_knows(&sharing->budget);
	}
	atomic_store(&quota->share, quota_share(sharing->state.part));
	atomic_store(&quota->offered, known ? quota_share(sharing->state.part) : 0);
}

/* Other agents */

/* So much of the queue is more than what is on its way. */
#define BEHIND 0.25

/* The account's counts, and what came since the last time, in so many seconds. */
static struct grant_second count_given(struct sharing *sharing, double seconds)
{
	struct account *account = queue_account(sharing->queue);
	struct quota *quota = queue_quota(sharing->queue);
	struct account_rows of;
	const int64_t *row = of.row;
	struct grant_second all = {.seconds = seconds}, is;

	ledger_read_with(&(struct ledger){0}, &account, &of, 1);
	all.sent = (double)row[SPANS_SENT];
	all.came = (double)(row[SPANS_TAKEN] - row[SPANS_SAMPLED_OUT] - row[SPANS_GIVEN_BACK]);
	all.replayed = (double)get(&quota->replayed);
	all.behind = row[SPANS_SPOOLED] > 0 ||
		     (double)queue_bytes(sharing->queue) > BEHIND * (double)queue_limit(sharing->queue);
	all.senders = quota_replayers(quota, quota_turn(sharing->looked));
	is = all;
	is.sent -= sharing->given.sent;
	is.came -= sharing->given.came;
	is.replayed -= sharing->given.replayed;
	sharing->given = all;
	return is;
}

static void give(struct sharing *sharing, double seconds)
{
	struct grant_second second = count_given(sharing, seconds);

	atomic_store(&queue_quota(sharing->queue)->grant, grant_step(&sharing->grant, &second));
}

static void on_tick(evutil_socket_t fd, short what, void *data)
{
	struct sharing *sharing = data;
	struct budget_second second = count(sharing);

	(void)fd;
	(void)what;
	give(sharing, second.seconds);
	if (sharing->is->keep)
		return;
	look_into_file(sharing);
	step(sharing, &second);
	decide(sharing);
}

/* What another file said, or another server. */
static void forget_others(struct sharing *sharing, const struct output_config *is)
{
	if (strcmp(sharing->is->budget_file, is->budget_file) != 0)
		sharing->file_part = 0;
	if (sharing->is->type != is->type || strcmp(sharing->is->server, is->server) != 0)
		atomic_store(&queue_quota(sharing->queue)->learned, 0);
}

void sharing_configure(struct sharing *sharing, const struct output_config *is, bool senders)
{
	struct timeval every = clock_timeval(EVERY_NS);

	output_config_ref(is);
	if (sharing->is)
		forget_others(sharing, is);
	output_config_unref(sharing->is);
	sharing->is = is;
	*sharing->state.error = '\0';
	count(sharing); /* what came before is not looked at */
	count_given(sharing, 0);
	atomic_store(&queue_quota(sharing->queue)->grant, 0);
	if (is->keep) {
		sharing->state.by = SHARING_OFF;
	} else {
		look_into_file(sharing);
		sharing->budget.part = sharing->state.part;
		decide(sharing);
	}
	if (is->keep && !senders)
		event_del(sharing->tick);
	else
		event_add(sharing->tick, &every);
}

struct sharing *sharing_create(
	struct event_base *base, struct queue *queue, const struct output_config *is, bool senders)
{
	struct sharing *sharing = g_new0(struct sharing, 1);

	sharing->queue = queue_ref(queue);
	sharing->tick = event_new(base, -1, EV_PERSIST, on_tick, sharing);
	budget_init(&sharing->budget);
	sharing->state.part = 1;
	sharing_configure(sharing, is, senders);
	return sharing;
}

void sharing_destroy(struct sharing *sharing)
{
	if (!sharing)
		return;
	event_free(sharing->tick);
	output_config_unref(sharing->is);
	queue_unref(sharing->queue);
	g_free(sharing);
}

void sharing_read_state(const struct sharing *sharing, struct sharing_state *state)
{
	*state = sharing->state;
}
