/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/traces.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "queue/keep.h"

/* So much of the memory is for what is kept, and a trace may have so much of that. */
#define KEPT_PART 4
#define TRACE_PART 4
/* So many traces are wanted at once, of which nobody has said that they are listed. */
#define FRESH_MAX 4096
#define FILTER_BITS 16
/* So many bytes ahead of what is overwritten are fetched: most of the ring is in no cache. */
#define AHEAD 1024
/* An item that is larger than this part of the ring would cost too many others. */
#define ITEM_PART 8

/* Before each item in the ring, and behind it up to the next multiple of its alignment, nothing. */
struct record {
	uint64_t trace_id_high, trace_id;
	uint32_t size;   /* of the item */
	uint32_t format; /* PADDING: nothing is behind it up to the end of the ring */
};

#define PADDING UINT32_MAX

struct wanted {
	uint64_t trace_id; /* first, as the key */
	bool listed;
	GList link;           /* in `listed` or in `fresh` */
	struct buffer copies; /* records, with their items */
	uint32_t missed;
};

struct point {
	uint64_t position; /* bytes since the beginning of all */
	uint64_t offset;   /* that is in the ring */
};

struct traces {
	pthread_mutex_t lock;
	uint8_t *ring;
	uint64_t room;                            /* bytes */
	struct point begin, end;                  /* what is between is in the ring */
	GHashTable *wanted;                       /* of struct wanted, by themselves */
	GQueue listed, fresh;                     /* the oldest first */
	size_t copied, copied_max;                /* bytes */
	uint64_t filter[(1 << FILTER_BITS) / 64]; /* a bit for each trace that is wanted, and some more */
};

struct traces *traces_create(size_t bytes)
{
	struct traces *traces;

	if (!bytes)
		return NULL;
	traces = g_new0(struct traces, 1);
	traces->copied_max = bytes / KEPT_PART;
	traces->room = (bytes - traces->copied_max) / sizeof(struct record) * sizeof(struct record);
	traces->ring = g_malloc(traces->room); /* which is touched only as far as it is used */
	traces->wanted = g_hash_table_new(g_int64_hash, g_int64_equal);
	pthread_mutex_init(&traces->lock, NULL);
	return traces;
}

/* What is wanted */

static void filter_add(struct traces *traces, uint64_t trace_id)
{
	uint64_t bit = keep_hash(trace_id) >> (64 - FILTER_BITS);

	traces->filter[bit / 64] |= UINT64_C(1) << (bit % 64);
}

static struct wanted *find(const struct traces *traces, uint64_t trace_id)
{
	uint64_t bit = keep_hash(trace_id) >> (64 - FILTER_BITS);

	if (G_LIKELY(!(traces->filter[bit / 64] >> (bit % 64) & 1)))
		return NULL;
	return g_hash_table_lookup(traces->wanted, &trace_id);
}

static void forget(struct traces *traces, struct wanted *wanted)
{
	g_queue_unlink(wanted->listed ? &traces->listed : &traces->fresh, &wanted->link);
	g_hash_table_remove(traces->wanted, wanted);
	traces->copied -= wanted->copies.size;
	buffer_free(&wanted->copies);
	g_free(wanted);
}

static void want(struct traces *traces, uint64_t trace_id)
{
	struct wanted *wanted = find(traces, trace_id);

	if (wanted)
		return;
	if (traces->fresh.length >= FRESH_MAX)
		forget(traces, g_queue_peek_head(&traces->fresh));
	wanted = g_new0(struct wanted, 1);
	wanted->trace_id = trace_id;
	wanted->link.data = wanted;
	g_hash_table_add(traces->wanted, wanted);
	g_queue_push_tail_link(&traces->fresh, &wanted->link);
	filter_add(traces, trace_id);
}

static struct wanted *oldest(const GQueue *queue, const struct wanted *but)
{
	const GList *link = queue->head;

	if (link && link->data == but)
		link = link->next;
	return link ? link->data : NULL;
}

/* One that is only wanted goes before one that is listed. */
static struct wanted *first_to_go(const struct traces *traces, const struct wanted *but)
{
	struct wanted *fresh = oldest(&traces->fresh, but);

	return fresh ? fresh : oldest(&traces->listed, but);
}

/* The ring */

static uint64_t stride(const struct record *record)
{
	return sizeof(*record) + (record->size + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
}

static uint8_t *at(const struct traces *traces, const struct point *point)
{
	return traces->ring + point->offset;
}

/* By no more than the ring has room for. */
static void move_on(const struct traces *traces, struct point *point, uint64_t bytes)
{
	point->position += bytes;
	point->offset += bytes;
	if (point->offset >= traces->room)
		point->offset -= traces->room;
}

static uint64_t left_to_the_end(const struct traces *traces, const struct point *point)
{
	return traces->room - point->offset;
}

/* The item at @point or the next one, and where it is; false: there is none. */
static bool next_record(const struct traces *traces, struct point *point, struct record *record)
{
	while (point->position < traces->end.position) {
		uint64_t left = left_to_the_end(traces, point);

		if (left >= sizeof(*record)) {
			memcpy(record, at(traces, point), sizeof(*record));
			if (record->format != PADDING)
				return true;
		}
		move_on(traces, point, left);
	}
	return false;
}

static void copy(struct traces *traces, struct wanted *wanted, const uint8_t *from, uint64_t size)
{
	struct wanted *other;

	if (wanted->copies.size + size > traces->copied_max / TRACE_PART) {
		wanted->missed++;
		return;
	}
	while (traces->copied + size > traces->copied_max && (other = first_to_go(traces, wanted)))
		forget(traces, other);
	buffer_put(&wanted->copies, from, size);
	traces->copied += size;
}

/* What stands before @position is overwritten. */
static void leave(struct traces *traces, uint64_t position)
{
	struct point *begin = &traces->begin;
	struct record record;

	while (begin->position < position && next_record(traces, begin, &record) &&
		begin->position < position) {
		struct wanted *wanted = find(traces, record.trace_id);

		if (G_UNLIKELY(wanted != NULL))
			copy(traces, wanted, at(traces, begin), stride(&record));
		move_on(traces, begin, stride(&record));
		__builtin_prefetch(at(traces, begin) + AHEAD, 1);
	}
}

/* Room for that many bytes in one piece. */
static uint8_t *make_place(struct traces *traces, uint64_t bytes)
{
	const struct record padding = {.format = PADDING};
	uint64_t left = left_to_the_end(traces, &traces->end);
	uint64_t end = traces->end.position + bytes + (left < bytes ? left : 0);

	if (end > traces->room)
		leave(traces, end - traces->room);
	if (left < bytes) {
		if (left >= sizeof(padding))
			memcpy(at(traces, &traces->end), &padding, sizeof(padding));
		move_on(traces, &traces->end, left);
	}
	return at(traces, &traces->end);
}

static void add(
	struct traces *traces, const struct trait *trait, uint8_t format, const uint8_t *item, uint32_t size)
{
	const struct record record = {trait->trace_id_high, trait->trace_id, size, format};
	uint8_t *place;

	if (stride(&record) > traces->room / ITEM_PART) {
		struct wanted *wanted = find(traces, trait->trace_id);

		if (wanted)
			wanted->missed++;
		return;
	}
	place = make_place(traces, stride(&record));
	memcpy(place, &record, sizeof(record));
	memcpy(place + sizeof(record), item, size);
	move_on(traces, &traces->end, stride(&record));
}

void traces_take(struct traces *traces, const struct items *spans, const uint64_t *wanted, size_t count)
{
	const struct batch *batch = spans ? spans->batch : NULL;
	const uint8_t *item;

	if (!traces || !(batch || count))
		return;
	pthread_mutex_lock(&traces->lock);
	for (size_t i = 0; i < count; i++)
		want(traces, wanted[i]);
	item = batch ? batch->spans.data : NULL;
	for (uint32_t i = 0; batch && i < batch->count; i++) {
		uint32_t size = batch_sizes(batch)[i];

		if (size) /* otherwise it was too large */
			add(traces, &spans->traits[i], batch->format, item, size);
		item += size;
	}
	pthread_mutex_unlock(&traces->lock);
}

/* Who is listed */

static void list(struct traces *traces, struct wanted *wanted)
{
	if (wanted->listed)
		return;
	g_queue_unlink(&traces->fresh, &wanted->link);
	g_queue_push_tail_link(&traces->listed, &wanted->link);
	wanted->listed = true;
}

static void forget_others(struct traces *traces, GQueue *queue, GHashTable *listed)
{
	for (GList *link = queue->head, *next; link; link = next) {
		struct wanted *wanted = link->data;

		next = link->next;
		if (!g_hash_table_contains(listed, wanted))
			forget(traces, wanted);
	}
}

static void build_filter(struct traces *traces)
{
	memset(traces->filter, 0, sizeof(traces->filter));
	for (const GList *link = traces->listed.head; link; link = link->next)
		filter_add(traces, ((const struct wanted *)link->data)->trace_id);
}

void traces_keep_only(struct traces *traces, const uint64_t *listed, size_t count)
{
	g_autoptr(GHashTable) kept = g_hash_table_new(NULL, NULL); /* of struct wanted */

	if (!traces)
		return;
	pthread_mutex_lock(&traces->lock);
	for (size_t i = 0; i < count; i++) {
		struct wanted *wanted;

		want(traces, listed[i]);
		wanted = find(traces, listed[i]);
		list(traces, wanted);
		g_hash_table_add(kept, wanted);
	}
	forget_others(traces, &traces->fresh, kept);
	forget_others(traces, &traces->listed, kept);
	build_filter(traces);
	pthread_mutex_unlock(&traces->lock);
}

/* Finding */

struct finding {
	uint64_t trace_id_high;
	GPtrArray *found;
	size_t bytes;
	uint32_t missed;
};

static void gather(struct finding *finding, const struct record *record, const uint8_t *item)
{
	struct traced *traced;

	if (finding->trace_id_high && record->trace_id_high &&
		record->trace_id_high != finding->trace_id_high)
		return;
	if (finding->found->len >= TRACES_FOUND_MAX || finding->bytes + record->size > TRACES_FOUND_BYTES) {
		finding->missed++;
		return;
	}
	traced = g_malloc(sizeof(*traced) + record->size);
	traced->format = (uint8_t)record->format;
	traced->size = record->size;
	memcpy(traced->bytes, item, record->size);
	finding->bytes += record->size;
	g_ptr_array_add(finding->found, traced);
}

static void gather_copies(struct finding *finding, const struct wanted *wanted)
{
	struct record record;

	finding->missed += wanted->missed;
	for (size_t i = 0; i < wanted->copies.size; i += stride(&record)) {
		memcpy(&record, wanted->copies.data + i, sizeof(record));
		gather(finding, &record, wanted->copies.data + i + sizeof(record));
	}
}

GPtrArray *traces_find(struct traces *traces, uint64_t trace_id_high, uint64_t trace_id, uint32_t *missed)
{
	struct finding finding = {trace_id_high, g_ptr_array_new_with_free_func(g_free), 0, 0};
	const struct wanted *wanted;
	struct record record;

	*missed = 0;
	if (!traces)
		return finding.found;
	pthread_mutex_lock(&traces->lock);
	wanted = find(traces, trace_id);
	if (wanted)
		gather_copies(&finding, wanted);
	for (struct point point = traces->begin; next_record(traces, &point, &record);
		move_on(traces, &point, stride(&record)))
		if (record.trace_id == trace_id)
			gather(&finding, &record, at(traces, &point) + sizeof(record));
	pthread_mutex_unlock(&traces->lock);
	*missed = finding.missed;
	return finding.found;
}

void traces_destroy(struct traces *traces)
{
	if (!traces)
		return;
	while (traces->listed.head)
		forget(traces, traces->listed.head->data);
	while (traces->fresh.head)
		forget(traces, traces->fresh.head->data);
	g_hash_table_unref(traces->wanted);
	pthread_mutex_destroy(&traces->lock);
	g_free(traces->ring);
	g_free(traces);
}
