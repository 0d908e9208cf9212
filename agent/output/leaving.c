/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/leaving.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"

/* The main loop does not wait for an output's disk: it looks so often whether all is stored, */
#define LOOK_NS (50 * NS_PER_MS)
/* and says so if that takes as long as this. */
#define SLOW_NS (5 * NS_PER_SECOND)

struct one {
	struct leaving *leaving;
	struct output *output;
	struct event *deadline;
	struct event *look; /* whether its spool is done */
	int64_t ending;     /* since when; CLOCK_MONOTONIC ns; 0: it still delivers */
	bool slow_said;
};

struct leaving {
	struct event_base *base;
	GPtrArray *list; /* of struct one *, owned */
	void (*drained)(void *data);
	void *drained_data;
};

/* "5 are sampled out, ", or nothing; the caller's. */
static char *part(int64_t count, const char *what, const char *where, const char *rest)
{
	return count ? g_strdup_printf("%" PRId64 " %s%s%s, ", count, what, where, rest) : g_strdup("");
}

/* What became of its spans, for whoever took it away: they are all in one of these numbers. */
static void report(const struct output *output)
{
	struct account *account = output_account(output);
	g_autofree char *path = output_spool_path(output), *kept = NULL, *sampled = NULL, *back = NULL;
	struct account_rows of;
	struct ledger rows;
	int64_t all, dropped;

	ledger_read_with(&rows, &account, &of, 1);
	all = of.row[SPANS_TAKEN] + of.row[SPANS_RECOVERED];
	sampled = part(of.row[SPANS_SAMPLED_OUT], "are sampled out", "", "");
	back = part(of.row[SPANS_GIVEN_BACK], "are given back to their senders", "", "");
	kept = part(of.row[SPANS_SPOOLED], "stay in ", path ? path : "its spool",
		" until there is an output of that name again");
	dropped = all - of.row[SPANS_SENT] - of.row[SPANS_SPOOLED] - of.row[SPANS_SAMPLED_OUT] -
		  of.row[SPANS_GIVEN_BACK];
	(dropped ? log_warning : log_info)("output %s is removed: of %" PRId64 " %s %" PRId64
					   " are sent, %s%s%s%" PRId64 " are dropped",
		output_name(output), all, kind_name(output_kind(output)), of.row[SPANS_SENT], sampled, back,
		kept, dropped);
}

/* What is dropped at its end stays in the ledger, where its account is not shown any more. */
static void keep_drops(struct account *account)
{
	struct account_entry entry = {.account = account};
	struct ledger rows, change = {0};
	struct account_rows of;
	int64_t left;

	ledger_read_with(&rows, &account, &of, 1);
	left = of.row[SPANS_DROPPED_SHUTDOWN];
	entry.change.row[SPANS_DROPPED_SHUTDOWN] = entry.change.row[SPANS_TAKEN] = -left;
	change.row[SPANS_DROPPED_WITH_OUTPUT] = left;
	ledger_post_with(&change, &entry, 1);
}

/* Frees it; waits for its spool, unless that is over. */
static void end(void *data)
{
	struct one *one = data;
	struct account *account = output_account(one->output);

	output_end_uplink(one->output);
	output_end_spool(one->output);
	output_drop(one->output, true); /* of which some is its senders' again */
	report(one->output);
	output_destroy(one->output, true);
	keep_drops(account);
	event_free(one->deadline);
	event_free(one->look);
	g_free(one);
}

struct leaving *leaving_create(struct event_base *base)
{
	struct leaving *leaving = g_new0(struct leaving, 1);

	leaving->base = base;
	leaving->list = g_ptr_array_new_with_free_func(end);
	return leaving;
}

static void check_drained(struct leaving *leaving)
{
	void (*drained)(void *data) = leaving->drained;

	if (leaving->list->len || !drained)
		return;
	leaving->drained = NULL;
	drained(leaving->drained_data);
}

static void on_look(evutil_socket_t fd, short what, void *data)
{
	const struct timeval soon = clock_timeval(LOOK_NS);
	struct one *one = data;
	struct leaving *leaving = one->leaving;

	(void)fd;
	(void)what;
	if (output_spool_is_over(one->output)) {
		g_ptr_array_remove(leaving->list, one);
		check_drained(leaving);
		return;
	}
	if (!one->slow_said && clock_monotonic() - one->ending >= SLOW_NS) {
		one->slow_said = true;
		log_warning("output %s is removed, but the disk of its spool is slow to store what it had",
			output_name(one->output));
	}
	event_add(one->look, &soon);
}

/* All is delivered, or time is up: what is left is stored. */
static void on_done(void *data)
{
	struct one *one = data;

	if (one->ending)
		return;
	one->ending = clock_monotonic();
	output_end_uplink(one->output);
	output_stop_spool(one->output);
	on_look(-1, 0, one);
}

static void on_deadline(evutil_socket_t fd, short what, void *data)
{
	(void)fd;
	(void)what;
	on_done(data);
}

void leaving_add(struct leaving *leaving, struct output *output, int64_t grace_ns)
{
	struct timeval limit = clock_timeval(grace_ns);
	struct one *one = g_new0(struct one, 1);

	one->leaving = leaving;
	one->output = output;
	one->deadline = evtimer_new(leaving->base, on_deadline, one);
	one->look = evtimer_new(leaving->base, on_look, one);
	event_add(one->deadline, &limit);
	g_ptr_array_add(leaving->list, one);
	output_when_drained(output, on_done, one);
}

struct output *leaving_find(const struct leaving *leaving, const char *name)
{
	for (guint i = 0; i < leaving->list->len; i++) {
		const struct one *one = g_ptr_array_index(leaving->list, i);

		if (!strcmp(output_name(one->output), name))
			return one->output;
	}
	return NULL;
}

size_t leaving_count(const struct leaving *leaving)
{
	return leaving->list->len;
}

const struct output *leaving_get(const struct leaving *leaving, size_t index)
{
	return ((const struct one *)g_ptr_array_index(leaving->list, index))->output;
}

void leaving_drain(struct leaving *leaving, void (*done)(void *data), void *data)
{
	leaving->drained = done;
	leaving->drained_data = data;
	for (guint i = 0; i < leaving->list->len; i++) {
		const struct one *one = g_ptr_array_index(leaving->list, i);

		output_close(one->output);
	}
	check_drained(leaving);
}

void leaving_end_all(struct leaving *leaving)
{
	leaving->drained = NULL;
	g_ptr_array_set_size(leaving->list, 0);
}

void leaving_destroy(struct leaving *leaving)
{
	leaving_end_all(leaving);
	g_ptr_array_unref(leaving->list);
	g_free(leaving);
}
