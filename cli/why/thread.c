/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/thread.h"

#include "import/kernelevent.h"

/* Of more pieces it is not known who ran there. */
#define QUEUED_MAX 4096

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
	thread->proofs = g_array_new(FALSE, FALSE, sizeof(int64_t));
	thread->doubts = g_array_new(FALSE, FALSE, sizeof(struct doubt));
	thread->known = INT64_MIN;
	thread->queued = g_array_new(FALSE, FALSE, sizeof(struct piece));
	return thread;
}

void thread_free(void *data)
{
	struct thread *thread = data;

	g_array_unref(thread->spans);
	g_ptr_array_unref(thread->active);
	g_array_unref(thread->proofs);
	g_array_unref(thread->doubts);
	g_array_unref(thread->queued);
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

void thread_prove(struct thread *thread, int64_t time)
{
	g_array_append_val(thread->proofs, time);
}

static gint compare_times(gconstpointer left, gconstpointer right)
{
	const int64_t *one = left, *other = right;

	return *one < *other ? -1 : *one > *other;
}

void thread_sort(struct thread *thread)
{
	g_array_sort(thread->proofs, compare_times);
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

/* Proofs */

static struct doubt *open_doubt(struct thread *thread)
{
	struct doubt *last = thread->doubts->len
				     ? &g_array_index(thread->doubts, struct doubt, thread->doubts->len - 1)
				     : NULL;

	return last && last->to == INT64_MAX ? last : NULL;
}

void thread_doubt(struct thread *thread)
{
	const struct doubt doubt = {thread->known, INT64_MAX};

	if (!thread->blind && !thread->given && !open_doubt(thread))
		g_array_append_val(thread->doubts, doubt);
}

/* A proof at the very end of a piece may be of the next one. */
static void settle_proofs(struct thread *thread, int64_t end, enum part part)
{
	bool runs = part == PART_CPU || part == PART_INTERRUPTED;

	for (; thread->proof < thread->proofs->len; thread->proof++) {
		int64_t time = g_array_index(thread->proofs, int64_t, thread->proof);

		if (runs ? time > end : time >= end)
			break;
		if (!runs && part != PART_UNKNOWN)
			thread_doubt(thread);
	}
}

void thread_know(struct thread *thread, int64_t time)
{
	struct doubt *doubt = thread->given ? NULL : open_doubt(thread);

	thread->known = time;
	if (doubt)
		doubt->to = time;
}

void thread_end(struct thread *thread)
{
	if (!thread->blind && !thread->given && thread->state > STATE_RUNNING)
		settle_proofs(thread, INT64_MAX, PART_OTHER);
}

/* Tells a piece, but nothing of what is in doubt. */
static void tell_sure(struct thread *thread, struct piece piece)
{
	int64_t end = piece.end;
	bool empty = piece.begin == end;

	for (; thread->given && thread->doubt < thread->given->len; thread->doubt++) {
		const struct doubt *doubt = &g_array_index(thread->given, struct doubt, thread->doubt);
		struct piece wrong = {.part = PART_UNKNOWN};

		if (doubt->from >= end)
			break;
		if (doubt->from > piece.begin) {
			piece.end = doubt->from;
			tell(thread, &piece);
			piece.begin = doubt->from;
		}
		wrong.begin = piece.begin;
		wrong.end = MIN(MAX(doubt->to, piece.begin), end);
		if (wrong.end > wrong.begin)
			tell(thread, &wrong);
		piece.begin = wrong.end;
		if (doubt->to > end)
			break;
	}
	piece.end = end;
	if (piece.begin < end || empty)
		tell(thread, &piece);
}

/* Ends the piece that began with the last one's end. */
static struct piece make_piece(struct thread *thread, int64_t time, enum part part, const struct whom *whom)
{
	const struct piece piece = {.begin = thread->since,
		.end = time,
		.part = thread->blind ? PART_UNKNOWN : part,
		.call = thread->call,
		.number = thread->call_number,
		.whom = whom ? *whom : (struct whom){0}};

	if (!thread->blind && !thread->given)
		settle_proofs(thread, time, part);
	thread->since = time;
	return piece;
}

void thread_queue_piece(struct thread *thread, int64_t time, const struct whom *whom)
{
	const struct piece piece = make_piece(thread, time, PART_RUNNABLE, whom);

	if (thread->queued->len == QUEUED_MAX)
		thread_settle_queued(thread, false);
	g_array_append_val(thread->queued, piece);
}

void thread_settle_queued(struct thread *thread, bool there)
{
	for (guint i = 0; i < thread->queued->len; i++) {
		struct piece *piece = &g_array_index(thread->queued, struct piece, i);

		if (!there)
			piece->whom = (struct whom){0};
		tell_sure(thread, *piece);
	}
	g_array_set_size(thread->queued, 0);
}

void thread_close_piece(struct thread *thread, int64_t time, enum part part, const struct whom *whom)
{
	const struct piece piece = make_piece(thread, time, part, whom);

	thread_settle_queued(thread, false);
	tell_sure(thread, piece);
}
