/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/tally.h"

#include <string.h>

#include "import/kernelevent.h"

_Static_assert(WHOM_NO_NUMBER == KERNEL_UNKNOWN, "an event's number that is not known is not known of whom");

void tally_init(struct tally *tally)
{
	memset(tally->part, 0, sizeof(tally->part));
	tally->calls = g_array_new(FALSE, TRUE, sizeof(struct call));
	tally->waits = g_array_new(FALSE, TRUE, sizeof(struct wait));
	tally->runners = g_array_new(FALSE, TRUE, sizeof(struct runner));
}

void tally_free(struct tally *tally)
{
	g_array_unref(tally->calls);
	g_array_unref(tally->waits);
	g_array_unref(tally->runners);
}

/* A thread's name and process may be known only later. */
static bool is_same_whom(const struct whom *one, const struct whom *other)
{
	return one->kind == other->kind && one->number == other->number &&
	       (one->kind == WHOM_THREAD || !memcmp(one->name, other->name, sizeof(one->name)));
}

static void learn(struct whom *whom, const struct whom *other)
{
	if (whom->pid == KERNEL_UNKNOWN && whom->kind == other->kind)
		*whom = *other;
}

/* The one at @index, which is made if it is the first behind the last; the last one is for all others. */
static void *get(GArray *array, guint index, bool *is_new)
{
	*is_new = index == array->len;
	if (*is_new)
		g_array_set_size(array, index + 1);
	return array->data + (gsize)index * g_array_get_element_size(array);
}

static const struct whom others = {.kind = WHOM_OTHERS};

static struct call *find_call(struct tally *tally, struct text name)
{
	guint i = 0;
	bool is_new;
	struct call *call;

	while (i < tally->calls->len && i < TALLY_MAX &&
		!text_is_equal(g_array_index(tally->calls, struct call, i).name, name))
		i++;
	call = get(tally->calls, i, &is_new);
	if (is_new && i < TALLY_MAX)
		call->name = name;
	return call;
}

/* The one for all others of that part: behind those that have an entry each. */
static struct wait *find_rest(struct tally *tally, enum part part)
{
	guint i = TALLY_MAX;
	bool is_new;
	struct wait *wait;

	while (i < tally->waits->len && g_array_index(tally->waits, struct wait, i).part != part)
		i++;
	wait = get(tally->waits, i, &is_new);
	if (is_new)
		*wait = (struct wait){.part = part, .whom = others};
	return wait;
}

static struct wait *find_wait(struct tally *tally, const struct piece *piece)
{
	guint i = 0;
	bool is_new;
	struct wait *wait;

	for (; i < tally->waits->len && i < TALLY_MAX; i++) {
		wait = &g_array_index(tally->waits, struct wait, i);
		if (wait->part == piece->part && text_is_equal(wait->call, piece->call) &&
			is_same_whom(&wait->whom, &piece->whom)) {
			learn(&wait->whom, &piece->whom);
			return wait;
		}
	}
	if (i == TALLY_MAX)
		return find_rest(tally, piece->part);
	wait = get(tally->waits, i, &is_new);
	*wait = (struct wait){.part = piece->part, .call = piece->call, .whom = piece->whom};
	return wait;
}

static struct runner *find_runner(struct tally *tally, const struct whom *whom)
{
	guint i = 0;
	bool is_new;
	struct runner *runner;

	while (i < tally->runners->len && i < TALLY_MAX &&
		!is_same_whom(&g_array_index(tally->runners, struct runner, i).whom, whom))
		i++;
	runner = get(tally->runners, i, &is_new);
	if (is_new)
		runner->whom = i < TALLY_MAX ? *whom : others;
	else if (i < TALLY_MAX)
		learn(&runner->whom, whom);
	return runner;
}

static void add_call(struct tally *tally, const struct piece *piece, int64_t time)
{
	struct call *call = find_call(tally, piece->call);

	if (call->number != piece->number) {
		call->number = piece->number;
		call->count++;
		call->current = 0;
	}
	call->time += time;
	call->current += time;
	call->longest = MAX(call->longest, call->current);
	if (piece->part != PART_CPU && piece->part != PART_INTERRUPTED && piece->part != PART_UNKNOWN)
		call->waited += time;
}

static void add_wait(struct tally *tally, const struct piece *piece, int64_t time)
{
	struct wait *wait = find_wait(tally, piece);

	wait->count++;
	wait->time += time;
	wait->longest = MAX(wait->longest, time);
}

static bool is_wait(enum part part)
{
	return part >= PART_DISK && part <= PART_OTHER;
}

void tally_add(struct tally *tally, const struct piece *piece, int64_t start, int64_t end)
{
	int64_t time;

	if (piece->end < start || piece->begin > end)
		return;
	time = MIN(piece->end, end) - MAX(piece->begin, start);
	/* what only touches it is not in it */
	if (!time && (piece->begin < piece->end || piece->begin == start || piece->end == end))
		return;
	tally->part[piece->part] += time;
	if (piece->call.data)
		add_call(tally, piece, time);
	if (time && is_wait(piece->part))
		add_wait(tally, piece, time);
	if (time && piece->part == PART_RUNNABLE)
		find_runner(tally, &piece->whom)->time += time;
}

static gint compare_times(int64_t left, int64_t right)
{
	return left > right ? -1 : left < right;
}

static gint compare_calls(gconstpointer left, gconstpointer right)
{
	return compare_times(((const struct call *)left)->time, ((const struct call *)right)->time);
}

static gint compare_waits(gconstpointer left, gconstpointer right)
{
	return compare_times(((const struct wait *)left)->time, ((const struct wait *)right)->time);
}

static gint compare_runners(gconstpointer left, gconstpointer right)
{
	return compare_times(((const struct runner *)left)->time, ((const struct runner *)right)->time);
}

void tally_sort(struct tally *tally)
{
	g_array_sort(tally->calls, compare_calls);
	g_array_sort(tally->waits, compare_waits);
	g_array_sort(tally->runners, compare_runners);
}

enum part tally_main(const struct tally *tally)
{
	enum part most = PART_CPU;

	for (enum part part = 0; part < PARTS; part++)
		if (tally->part[part] > tally->part[most])
			most = part;
	return tally->part[most] ? most : PART_UNKNOWN;
}

const struct wait *tally_main_wait(const struct tally *tally, enum part part)
{
	for (guint i = 0; i < tally->waits->len; i++) {
		const struct wait *wait = &g_array_index(tally->waits, struct wait, i);

		if (wait->part == part && wait->whom.kind != WHOM_OTHERS)
			return wait;
	}
	return NULL;
}
