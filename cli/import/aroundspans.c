/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "import/aroundspans.h"

#include <string.h>

struct around_spans {
	uint64_t trace_id;
	GDestroyNotify free_event;
	GPtrArray *list;         /* of struct around_span, owned */
	GHashTable *missing;     /* GBytes: the numbers of those that found no room in it */
	uint64_t more;           /* so many did not */
	struct numbers *numbers; /* the kernel's, of threads */
	int64_t first, last;     /* ns since the epoch */
	unsigned events;         /* of all of them */
	bool sorted;
};

static void span_free(void *data)
{
	struct around_span *span = data;

	g_ptr_array_unref(span->events);
	g_free(span);
}

struct around_spans *around_spans_create(uint64_t trace_id, GDestroyNotify free_event)
{
	struct around_spans *spans = g_new0(struct around_spans, 1);

	spans->trace_id = trace_id;
	spans->free_event = free_event;
	spans->list = g_ptr_array_new_with_free_func(span_free);
	spans->missing =
		g_hash_table_new_full(g_bytes_hash, g_bytes_equal, (GDestroyNotify)g_bytes_unref, NULL);
	spans->numbers = numbers_create();
	spans->first = INT64_MAX;
	spans->last = INT64_MIN;
	return spans;
}

void around_spans_destroy(struct around_spans *spans)
{
	g_ptr_array_unref(spans->list);
	g_hash_table_unref(spans->missing);
	numbers_destroy(spans->numbers);
	g_free(spans);
}

/* Spans */

/* The number in the line "&PID=NAME" of a span's data. */
static int64_t process_of(const struct event *event)
{
	const char *at = event->value.data, *end = at + event->value.size;

	if (event->type != EVENT_SPAN)
		return AROUND_UNKNOWN;
	while (at < end) {
		const char *line = memchr(at, '\n', (size_t)(end - at));
		char *equals = NULL;
		uint64_t pid;

		if (*at == '&' && at + 1 < end && g_ascii_isdigit(at[1])) {
			pid = g_ascii_strtoull(at + 1, &equals, 10);
			if (equals < end && *equals == '=' && pid <= INT32_MAX)
				return (int64_t)pid;
		}
		at = line ? line + 1 : end;
	}
	return AROUND_UNKNOWN;
}

/* Eleven days. */
#define DIGITS_MAX 15

/* A span may tell its end itself, in the line "!finish +NANOSECONDS" after its start. */
static int64_t end_of(const struct event *event, int64_t start)
{
	static const char mark[] = "\n!finish +";
	const char *at, *end = event->value.data + event->value.size;
	int64_t after = 0;
	int digits = 0;

	at = event->type == EVENT_SPAN ? memmem(event->value.data, event->value.size, mark, sizeof(mark) - 1)
				       : NULL;
	if (!at)
		return event->time;
	for (at += sizeof(mark) - 1; at < end && g_ascii_isdigit(*at) && digits < DIGITS_MAX; at++, digits++)
		after = after * 10 + (*at - '0');
	return digits && (at == end || *at == '\n') ? start + after : event->time;
}

/* A whole span tells its start, on the tracing clock; of classic ones each event is a moment of it. */
static int64_t start_of(const struct event *event)
{
	if (event->type != EVENT_SPAN || event->start > event->clock ||
		event->clock - event->start > INT64_MAX / 2)
		return event->time;
	return event->time - (int64_t)(event->clock - event->start);
}

/* Of more than these each event counts, as it is not known whose others were. */
#define MISSING_MAX 100000

/* A classic span has many events, and counts once. */
static void miss(struct around_spans *spans, uint64_t id, int64_t pid, int64_t tid)
{
	const int64_t numbers[] = {(int64_t)id, pid, tid};
	g_autoptr(GBytes) key = g_bytes_new(numbers, sizeof(numbers));

	if (g_hash_table_contains(spans->missing, key))
		return;
	spans->more++;
	if (g_hash_table_size(spans->missing) < MISSING_MAX)
		g_hash_table_add(spans->missing, g_steal_pointer(&key));
}

/* The halves of a span are of different threads. */
static struct around_span *get(struct around_spans *spans, uint64_t id, int64_t pid, int64_t tid)
{
	struct around_span *span;

	for (guint i = 0; i < spans->list->len; i++) {
		span = spans->list->pdata[i];
		if (span->id == id && span->tid == tid && span->pid == pid)
			return span;
	}
	if (spans->list->len == AROUND_SPANS_MAX) {
		miss(spans, id, pid, tid);
		return NULL;
	}
	span = g_new0(struct around_span, 1);
	span->id = id;
	span->pid = pid;
	span->tid = tid;
	span->start = INT64_MAX;
	span->end = INT64_MIN;
	span->seen = INT64_MIN;
	span->events = g_ptr_array_new_with_free_func(spans->free_event);
	g_ptr_array_add(spans->list, span);
	return span;
}

/* What comes after a span has ended says nothing of its time. */
static bool is_of_its_time(const struct event *event)
{
	return event->type == EVENT_SPAN || event->type >= EVENT_TIMESTAMP;
}

void around_spans_take(struct around_spans *spans, const struct event *event, int64_t tid)
{
	struct around_span *span;
	int64_t start;

	if (event->trace_id != spans->trace_id || !is_of_its_time(event))
		return;
	span = get(spans, event->span_id, process_of(event), tid);
	if (!span)
		return;
	start = start_of(event);
	span->start = MIN(span->start, start);
	span->end = MAX(span->end, end_of(event, start));
	span->seen = MAX(span->seen, event->time);
	spans->first = MIN(spans->first, span->start);
	spans->last = MAX(spans->last, span->end);
	spans->sorted = false;
}

static gint compare_starts(gconstpointer left, gconstpointer right)
{
	const struct around_span *a = *(struct around_span *const *)left,
				 *b = *(struct around_span *const *)right;

	return a->start < b->start ? -1 : a->start > b->start;
}

static void sort(struct around_spans *spans)
{
	if (!spans->sorted)
		g_ptr_array_sort(spans->list, compare_starts);
	spans->sorted = true;
}

const GPtrArray *around_spans_list(struct around_spans *spans)
{
	sort(spans);
	return spans->list;
}

uint64_t around_spans_more(const struct around_spans *spans)
{
	return spans->more;
}

bool around_spans_reach(const struct around_spans *spans, int64_t time)
{
	return time >= spans->first && time <= spans->last;
}

/* Events */

static int64_t number_of(int64_t known)
{
	return known == AROUND_UNKNOWN ? KERNEL_UNKNOWN : known;
}

/* Learns what the kernel calls a thread. */
static void learn(struct around_spans *spans, const struct around_moment *moment)
{
	const struct kernel_event event = {.tid = number_of(moment->kernel),
		.vtid = number_of(moment->tid),
		.vpid = number_of(moment->pid)};

	numbers_learn(spans->numbers, &event);
}

static bool is_same_process(const struct around_span *span, const struct around_moment *moment)
{
	return span->pid == moment->pid || span->pid == AROUND_UNKNOWN || moment->pid == AROUND_UNKNOWN;
}

static bool is_about(
	const struct around_spans *spans, const struct around_span *span, const struct around_moment *moment)
{
	if (span->tid == AROUND_UNKNOWN || (moment->tid == AROUND_UNKNOWN && moment->other == AROUND_UNKNOWN))
		return span->pid != AROUND_UNKNOWN && span->pid == moment->pid;
	if (moment->other != AROUND_UNKNOWN &&
		moment->other == numbers_find(spans->numbers, span->pid, span->tid))
		return true;
	return span->tid == moment->tid && is_same_process(span, moment);
}

struct around_span *around_spans_find(struct around_spans *spans, const struct around_moment *moment)
{
	struct around_span *found = NULL;

	learn(spans, moment);
	sort(spans);
	for (guint i = 0; i < spans->list->len; i++) {
		struct around_span *span = spans->list->pdata[i];

		if (span->start > moment->time)
			break;
		if (span->end < moment->time || !is_about(spans, span, moment))
			continue;
		if (!found || span->end - span->start <= found->end - found->start)
			found = span;
	}
	return found;
}

void around_spans_put(struct around_spans *spans, struct around_span *span, void *event)
{
	if (span->events->len < AROUND_EVENTS_MAX && spans->events < AROUND_EVENTS_ALL) {
		g_ptr_array_add(span->events, event);
		spans->events++;
		return;
	}
	spans->free_event(event);
	span->more++;
}
