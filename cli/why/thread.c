/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/thread.h"

#include "why/kernelevent.h"

struct wanted {
	int64_t start, end;
	struct tally *tally;
};

struct thread *thread_create(int64_t tid, bool blind)
{
	struct thread *thread = g_new0(struct thread, 1);

	thread->tid = tid;
	thread->spans = g_array_new(FALSE, FALSE, sizeof(struct wanted));
	thread->active = g_ptr_array_new();
	thread->since = INT64_MIN;
	thread->blind = blind;
	thread->cpu = KERNEL_UNKNOWN;
	return thread;
}

void thread_free(void *data)
{
	struct thread *thread = data;

	g_array_unref(thread->spans);
	g_ptr_array_unref(thread->active);
	g_free(thread);
}

void thread_want(struct thread *thread, int64_t start, int64_t end, struct tally *tally)
{
	const struct wanted wanted = {start, end, tally};

	g_array_append_val(thread->spans, wanted);
}

static gint compare_starts(gconstpointer left, gconstpointer right)
{
	const struct wanted *one = left, *other = right;

	return one->start < other->start ? -1 : one->start > other->start;
}

void thread_sort(struct thread *thread)
{
	g_array_sort(thread->spans, compare_starts);
}

/* Tells a piece to the spans that it is in. */
static void tell(struct thread *thread, const struct piece *piece)
{
	for (; thread->next < thread->spans->len; thread->next++) {
		struct wanted *wanted = &g_array_index(thread->spans, struct wanted, thread->next);

		if (wanted->start > piece->end)
			break;
		g_ptr_array_add(thread->active, wanted);
	}
	for (guint i = 0; i < thread->active->len;) {
		const struct wanted *wanted = thread->active->pdata[i];

		tally_add(wanted->tally, piece, wanted->start, wanted->end);
		if (wanted->end < piece->end)
			g_ptr_array_remove_index_fast(thread->active, i);
		else
			i++;
	}
}

void thread_close_piece(struct thread *thread, int64_t time, enum part part, const struct whom *whom)
{
	const struct piece piece = {.begin = thread->since,
		.end = time,
		.part = thread->blind ? PART_UNKNOWN : part,
		.call = thread->call,
		.number = thread->call_number,
		.whom = whom ? *whom : (struct whom){0}};

	tell(thread, &piece);
	thread->since = time;
}
