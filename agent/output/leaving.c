/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/leaving.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"

struct one {
	struct leaving *leaving;
	struct output *output;
	struct event *deadline;
};

struct leaving {
	struct event_base *base;
	GPtrArray *list; /* of struct one *, owned */
};

/* What became of its spans, for whoever took it away. */
static void report(const struct output *output)
{
	struct account *account = output_account(output);
	struct account_rows of;
	struct ledger rows;

	ledger_read_with(&rows, &account, &of, 1);
	log_info("output %s is taken away: of %" PRId64 " spans %" PRId64 " are sent, %" PRId64
		 " stay in its spool on disk, %" PRId64 " are dropped now",
		output_name(output), of.row[SPANS_TAKEN] + of.row[SPANS_RECOVERED], of.row[SPANS_SENT],
		of.row[SPANS_SPOOLED], of.row[SPANS_QUEUED]);
}

static void end(void *data)
{
	struct one *one = data;

	output_end_uplink(one->output);
	output_end_spool(one->output);
	report(one->output);
	output_destroy(one->output, true);
	event_free(one->deadline);
	g_free(one);
}

struct leaving *leaving_create(struct event_base *base)
{
	struct leaving *leaving = g_new0(struct leaving, 1);

	leaving->base = base;
	leaving->list = g_ptr_array_new_with_free_func(end);
	return leaving;
}

static void on_done(void *data)
{
	struct one *one = data;

	g_ptr_array_remove(one->leaving->list, one);
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
	event_add(one->deadline, &limit);
	g_ptr_array_add(leaving->list, one);
	output_when_drained(output, on_done, one);
}

bool leaving_has(const struct leaving *leaving, const char *name)
{
	for (guint i = 0; i < leaving->list->len; i++) {
		const struct one *one = g_ptr_array_index(leaving->list, i);

		if (!strcmp(output_name(one->output), name))
			return true;
	}
	return false;
}

void leaving_end_all(struct leaving *leaving)
{
	g_ptr_array_set_size(leaving->list, 0);
}

void leaving_destroy(struct leaving *leaving)
{
	leaving_end_all(leaving);
	g_ptr_array_unref(leaving->list);
	g_free(leaving);
}
