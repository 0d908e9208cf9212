/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/words.h"

#include <inttypes.h>
#include <string.h>

#include "printable.h"

static void put_name(struct buffer *out, const char *name)
{
	printable_put(out, name, strlen(name), 0);
}

bool words_whom(struct buffer *out, const struct whom *whom)
{
	return whom_put(out, whom, put_name);
}

void words_time(struct buffer *out, int64_t ns)
{
	printable_put_time(out, ns / 1000 + (ns % 1000 >= 500));
}

static void put_share(struct buffer *out, const struct why_span *span, enum part part)
{
	words_time(out, span->tally.part[part]);
	buffer_printf(out, " of ");
	words_time(out, why_duration(span));
}

static void put_wait(struct buffer *out, const struct why_span *span, enum part part)
{
	const struct wait *wait = tally_main_wait(&span->tally, part);
	g_autofree char *call = wait ? printable_copy(wait->call.data, wait->call.size, 0) : NULL;
	struct buffer whom = {0};

	buffer_printf(out, ": ");
	if (wait && wait->call.size)
		buffer_printf(out, "%s, ", call);
	put_share(out, span, part);
	if (wait && words_whom(&whom, &wait->whom))
		buffer_printf(out, "; woken by %.*s", (int)whom.size, (const char *)whom.data);
	buffer_free(&whom);
}

static void put_runner(struct buffer *out, const struct why_span *span)
{
	const GArray *runners = span->tally.runners;
	struct buffer whom = {0};

	buffer_printf(out, ": ");
	put_share(out, span, PART_RUNNABLE);
	if (runners->len && words_whom(&whom, &g_array_index(runners, struct runner, 0).whom))
		buffer_printf(out, "; %.*s ran there", (int)whom.size, (const char *)whom.data);
	buffer_free(&whom);
}

static void put_unknown(struct buffer *out, const struct why_span *span, const struct why *why)
{
	buffer_printf(out, "not known: ");
	if (!why->any_kernel)
		buffer_printf(out, "there is no event of its kernel here");
	else if (!why->recorded[KERNEL_SWITCH])
		buffer_printf(out, "no sched_switch is recorded");
	else if (why->other)
		buffer_printf(out, "there are kernels of several hosts");
	else if (why->spread)
		buffer_printf(out, "there are spans of several hosts");
	else if (span->thread == THREAD_UNKNOWN)
		buffer_printf(out, "its thread is not recorded (context vtid)");
	else if (span->thread == THREAD_AMBIGUOUS)
		buffer_printf(out, "threads of several containers have its numbers");
	else
		put_share(out, span, PART_UNKNOWN);
}

void words_cause(struct buffer *out, const struct why_span *span, const struct why *why)
{
	enum part part = tally_main(&span->tally);

	if (part == PART_UNKNOWN) {
		put_unknown(out, span, why);
		return;
	}
	buffer_printf(out, "%s %s", span->tally.part[part] > why_duration(span) / 2 ? "mostly" : "above all",
		part_words(part));
	if (part == PART_RUNNABLE) {
		put_runner(out, span);
	} else if (part == PART_CPU || part == PART_INTERRUPTED) {
		buffer_printf(out, ": ");
		put_share(out, span, part);
	} else {
		put_wait(out, span, part);
	}
}

/* What is missing */

static bool any_with_thread(const struct why *why)
{
	for (guint i = 0; i < why->spans->len; i++)
		if (g_array_index(why->spans, struct why_span, i).thread != THREAD_UNKNOWN)
			return true;
	return false;
}

static bool any_wait(const struct why *why, bool of_disk, bool nowhere)
{
	for (guint i = 0; i < why->spans->len; i++) {
		const GArray *waits = g_array_index(why->spans, struct why_span, i).tally.waits;

		for (guint k = 0; k < waits->len; k++) {
			const struct wait *wait = &g_array_index(waits, struct wait, k);

			if ((!of_disk || wait->part == PART_DISK) &&
				(!nowhere || (wait->part != PART_FAULT && !wait->call.size &&
						     wait->whom.kind != WHOM_OTHERS)))
				return true;
		}
	}
	return false;
}

static const struct {
	enum kernel_kind kind;
	bool of_disk; /* it matters to such waits only */
	const char *sentence;
} needed[] = {
	{KERNEL_WAKING, false,
		"No sched_waking is recorded: a wait lasts until the thread runs, though it may have been "
		"ready "
		"before, and who woke it is not known. Add sched_waking to `events` of [kernel]."},
	{KERNEL_CALL_ENTRY, false,
		"No system call is recorded: what a thread waited for is not known. Set `syscalls = *` in "
		"[kernel]."},
	{KERNEL_BLOCK_COMPLETE, true,
		"No block_rq_complete is recorded: that a wait was for the disk is only supposed, as it "
		"could not be interrupted. Add block_rq_* to `events` of [kernel]."},
};

static void put_wrong(const struct why *why, void (*put)(void *data, const char *sentence), void *data)
{
	g_autofree char *text = NULL;

	if (why->silent == KERNEL_UNKNOWN) {
		put(data,
			"By the kernel's events a thread did not run when it recorded its span, or was woken "
			"twice: some of them are missing, and what it did there is unknown.");
		return;
	}
	text = g_strdup_printf("CPU %" PRId64
			       " has no kernel events for that time, though a span was recorded there: "
			       "what its thread did is unknown.",
		why->silent);
	put(data, text);
}

static void put_no_switch(const struct why *why, void (*put)(void *data, const char *sentence), void *data)
{
	if (why->flies && !why->any_kernel) {
		put(data, "What the kernel did is known of late traces only, as [kernel] has `mode = "
			  "flight`: of "
			  "this one nothing is kept.");
		return;
	}
	put(data, why->any_kernel ? "No sched_switch is recorded, so it is not known when a thread "
				    "ran: put into [kernel] "
				    "`events = " WORDS_EVENTS "` and `syscalls = *`."
				  : "There is no event of the kernel here, so nothing can be said: "
				    "put into [kernel] "
				    "`events = " WORDS_EVENTS "` and `syscalls = *`, or name the folder "
				    "of the kernel's part, too.");
}

static char *time_text(int64_t ns)
{
	g_autoptr(GDateTime) second = g_date_time_new_from_unix_utc(ns / 1000000000);
	g_autofree char *text = second ? g_date_time_format(second, "%Y-%m-%dT%H:%M:%S") : g_strdup("?");

	return g_strdup_printf("%s.%06" PRId64 "Z", text, ns % 1000000000 / 1000);
}

/* Of a span whose thread has no events: perhaps the kernel's are of another time. */
static void put_extent(const struct why *why, const struct why_span *span,
	void (*put)(void *data, const char *sentence), void *data)
{
	g_autofree char *first = time_text(why->kernel_first), *last = time_text(why->kernel_last);
	g_autofree char *start = time_text(span->at->start), *end = time_text(span->at->end);
	g_autofree char *text = g_strdup_printf(
		"A span's thread has no event of the kernel in its time, from %s to %s: the kernel's events "
		"are from %s to %s.",
		start, end, first, last);

	put(data, text);
}

static const struct why_span *find_bare(const struct why *why)
{
	for (guint i = 0; i < why->spans->len; i++) {
		const struct why_span *span = &g_array_index(why->spans, struct why_span, i);
		int64_t duration = why_duration(span);

		if (span->thread == THREAD_KNOWN && duration && span->tally.part[PART_UNKNOWN] == duration)
			return span;
	}
	return NULL;
}

static void put_foreign(const struct why *why, void (*put)(void *data, const char *sentence), void *data)
{
	g_autofree char *text = g_strdup_printf(
		"The kernel's trace of %s is not used: it is of another machine, or of another boot, than "
		"the spans, as its clock is another one.",
		*why->foreign ? why->foreign : "a host without a name");

	put(data, text);
}

/* A sentence that begins with a number, and has a form for one. */
static void put_count(uint64_t count, const char *one, const char *more, const char *rest,
	void (*put)(void *data, const char *sentence), void *data)
{
	g_autofree char *text = g_strdup_printf("%" PRIu64 " %s%s", count, count == 1 ? one : more, rest);

	if (count)
		put(data, text);
}

void words_missing(const struct why *why, void (*put)(void *data, const char *sentence), void *data)
{
	g_autofree char *text = NULL;

	if (!any_with_thread(why))
		put(data, "No span tells its thread: its session needs the context vtid, which the agent's "
			  "has while "
			  "[kernel] or [events] asks for something.");
	if (why->unread)
		put(data, why->any_kernel
				  ? "A trace of the kernel could not be read, and what it tells is not known."
				  : "The kernel's trace could not be read, so nothing can be said: it is "
				    "damaged, or "
				    "was copied while it was written.");
	if (why->foreign)
		put_foreign(why, put, data);
	if (why->spread && !why->other)
		put(data, "The spans are of several hosts, or boots, whose threads have the same numbers: "
			  "ask for one span by its id, or name the traces of one host.");
	if (why->other) {
		text = g_strdup_printf(
			"There are events of the kernels of %s and %s, whose threads have the same "
			"numbers: name the traces of one host.",
			why->host, why->other);
		put(data, text);
	} else if (!why->recorded[KERNEL_SWITCH]) {
		if (why->any_kernel || !(why->foreign || why->unread))
			put_no_switch(why, put, data);
	} else {
		for (size_t i = 0; i < G_N_ELEMENTS(needed); i++)
			if (!why->recorded[needed[i].kind] && any_wait(why, needed[i].of_disk, false))
				put(data, needed[i].sentence);
		if (why->recorded[KERNEL_CALL_ENTRY] && !why->all_calls && any_wait(why, false, true))
			put(data, "A thread waited in none of the system calls that are recorded: whether it "
				  "was in another one, or in "
				  "none, is not known. Set `syscalls = *` in [kernel].");
	}
	if (why->recorded[KERNEL_SWITCH] && !why->other && !why->spread && find_bare(why))
		put_extent(why, find_bare(why), put, data);
	if (why->wrong || why->silent != KERNEL_UNKNOWN)
		put_wrong(why, put, data);
	put_count(why->discarded, "event was", "events were",
		" discarded, as a ring buffer was full: around them it is unknown what threads did.", put,
		data);
	put_count(why->overwritten, "packet of events is", "packets of events are",
		" missing, as they were overwritten, or are not here: around them it is unknown what threads "
		"did.",
		put, data);
	put_count(why->left_out, "more span is", "more spans are", " left out.", put, data);
}
