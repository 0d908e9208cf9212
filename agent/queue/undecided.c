/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/undecided.h"

#include <glib.h>

#include "queue/tracehash.h"

/* So many traces are kept at once, at most: a node where more fail keeps the latest. As many more are kept as
 * other agents say so, who may lie. */
#define KEPT_MAX 16384
/* Heard at a time. */
#define HEARD 64
/* About what a span takes beside its bytes: its place, and its trace's. */
#define SPAN_BYTES 160

struct chunk;

/* Where a span waits. Number 0: nowhere. */
struct place {
	struct chunk *chunk; /* gone if its number is below the oldest one's */
	uint64_t number;
	uint32_t index; /* in there */
};

struct waiting {
	struct trait trait;
	struct place before; /* of the same trace; it may be gone */
	uint32_t offset;     /* of its bytes */
	bool taken;
};

/* Spans that came together. */
struct chunk {
	uint64_t number; /* they are numbered in a row */
	int64_t came;
	struct batch *items;
	struct waiting *each;
};

struct trace {
	struct trace_id id; /* first, as the key */
	struct place last;  /* of its spans that wait */
	int64_t kept_until; /* 0: it is not kept */
	bool found;         /* it is in `found` */
	bool asked;         /* it is only kept as another agent says so */
};

struct kept {
	struct trace_id id;
	int64_t until;
};

struct undecided {
	struct keep keep;
	GHashTable *traces; /* of struct trace, by themselves: what waits, or is kept */
	GQueue chunks;      /* of struct chunk, the oldest first */
	GQueue kept[2];     /* of struct kept, the same; it may be kept for longer since. Those of `asked` are
			       apart */
	struct wanted_reader reader; /* of what others say */
	uint32_t asked;              /* spans that were kept for that, and not told yet */
	GPtrArray *found;            /* of struct trace: that are kept, and have spans that wait */
	uint64_t next;               /* chunk's number */
	size_t bytes;
	uint32_t count;
	uint32_t gone, early; /* for want of memory: not told yet, by undecided_expire */
};

struct undecided *undecided_create(const struct keep *keep)
{
	struct undecided *undecided;

	if (keep_is_all(keep) || !keep->traces_ns || !(keep->errors || keep->slower))
		return NULL;
	undecided = g_new0(struct undecided, 1);
	undecided->keep = *keep;
	undecided->traces = g_hash_table_new_full(tracehash, tracehash_equal, g_free, NULL);
	undecided->found = g_ptr_array_new();
	undecided->next = 1;
	undecided->keep.wanted = wanted_ref(keep->wanted);
	undecided->reader.place = (struct wanted_place){WANTED_HERE, keep->output};
	return undecided;
}

static struct trace_id id_of(const struct trait *trait)
{
	return (struct trace_id){trait->trace_id_high, trait->trace_id};
}

static struct trace *find(struct undecided *undecided, struct trace_id id)
{
	const struct trace key = {.id = id};

	return g_hash_table_lookup(undecided->traces, &key);
}

static struct trace *find_or_add(struct undecided *undecided, struct trace_id id)
{
	struct trace *trace = find(undecided, id);

	if (!trace) {
		trace = g_new0(struct trace, 1);
		trace->id = id;
		g_hash_table_add(undecided->traces, trace);
	}
	return trace;
}

static void forget_if_idle(struct undecided *undecided, struct trace *trace)
{
	if (!trace->kept_until && !trace->last.number && !trace->found)
		g_hash_table_remove(undecided->traces, trace);
}

/* Traces that are kept */

static void forget_kept(struct undecided *undecided, bool asked)
{
	struct kept *oldest = g_queue_pop_head(&undecided->kept[asked]);
	struct trace *trace = find(undecided, oldest->id);

	if (trace && trace->kept_until == oldest->until) {
		trace->kept_until = 0;
		trace->asked = false;
		forget_if_idle(undecided, trace);
	}
	g_free(oldest);
}

/* Whether it was not, or is so for much longer now. */
static bool keep_trace(struct undecided *undecided, const struct trace_id *id, bool asked, int64_t now)
{
	struct trace *trace = find_or_add(undecided, *id);
	struct kept *kept;
	int64_t until = now + undecided->keep.traces_ns;

	if (trace->last.number && !trace->found) {
		trace->found = true;
		g_ptr_array_add(undecided->found, trace);
	}
	if (trace->kept_until > now + undecided->keep.traces_ns / 2 && (asked || !trace->asked))
		return false;
	trace->asked = asked && (trace->asked || !trace->kept_until);
	trace->kept_until = until;
	kept = g_new(struct kept, 1);
	*kept = (struct kept){*id, until};
	g_queue_push_tail(&undecided->kept[asked], kept);
	if (undecided->kept[asked].length > KEPT_MAX)
		forget_kept(undecided, asked);
	return true;
}

static void look_at(struct undecided *undecided, const struct trait *trait, int64_t now)
{
	const struct trace_id id = id_of(trait);
	struct wanted *wanted = undecided->keep.wanted;

	if (keep_trace(undecided, &id, false, now) && wanted && keep_wants_trace(&undecided->keep, trait))
		wanted_add(wanted, &id, &undecided->reader.place, undecided->keep.output, now);
}

void undecided_look(struct undecided *undecided, const struct trait *traits, uint32_t count, int64_t now)
{
	for (uint32_t i = 0; i < count; i++)
		if (keep_takes_span(&undecided->keep, &traits[i]) &&
			!keep_takes_trace(&undecided->keep, &traits[i]))
			look_at(undecided, &traits[i], now);
}

void undecided_hear(struct undecided *undecided, int64_t now)
{
	struct trace_id ids[HEARD];
	enum wanted_by by[HEARD];
	uint32_t count = HEARD;

	while (undecided->keep.wanted && count == HEARD) {
		count = wanted_read(undecided->keep.wanted, &undecided->reader, ids, by, HEARD, now);
		for (uint32_t i = 0; i < count; i++) {
			const struct trait trait = {.trace_id_high = ids[i].high, .trace_id = ids[i].low};

			if (!keep_takes_trace(&undecided->keep, &trait))
				keep_trace(undecided, &ids[i], by[i] != WANTED_HERE, now);
		}
	}
}

uint32_t undecided_asked(struct undecided *undecided)
{
	uint32_t asked = undecided->asked;

	undecided->asked = 0;
	return asked;
}

/* Spans that wait */

static bool is_there(const struct undecided *undecided, const struct place *place)
{
	const GList *oldest = undecided->chunks.head;

	return oldest && place->number >= ((const struct chunk *)oldest->data)->number;
}

static size_t chunk_bytes(const struct chunk *chunk)
{
	return sizeof(*chunk) + batch_bytes(chunk->items) + (size_t)chunk->items->count * SPAN_BYTES;
}

static void take_span(
	struct undecided *undecided, const struct chunk *chunk, struct waiting *waiting, struct batch *taken)
{
	uint32_t index = (uint32_t)(waiting - chunk->each);

	batch_add(taken, chunk->items->spans.data + waiting->offset, batch_sizes(chunk->items)[index],
		batch_events(chunk->items)[index]);
	waiting->taken = true;
	undecided->count--;
}

/* From the latest to the first. */
static void take_trace(struct undecided *undecided, struct trace *trace, struct batch **taken)
{
	struct place place = trace->last;

	while (is_there(undecided, &place) && !place.chunk->each[place.index].taken) {
		struct waiting *waiting = &place.chunk->each[place.index];

		if (!*taken)
			*taken = batch_create((enum batch_format)place.chunk->items->format, 16, 4096);
		take_span(undecided, place.chunk, waiting, *taken);
		undecided->asked += trace->asked;
		place = waiting->before;
	}
	trace->last = (struct place){0};
	trace->found = false;
	forget_if_idle(undecided, trace);
}

struct batch *undecided_take(struct undecided *undecided)
{
	struct batch *taken = NULL;

	for (guint i = 0; i < undecided->found->len; i++)
		take_trace(undecided, g_ptr_array_index(undecided->found, i), &taken);
	g_ptr_array_set_size(undecided->found, 0);
	return taken;
}

static void remove_oldest(struct undecided *undecided, uint32_t *gone)
{
	struct chunk *chunk = g_queue_pop_head(&undecided->chunks);

	for (uint32_t i = 0; i < chunk->items->count; i++) {
		const struct waiting *waiting = &chunk->each[i];
		struct trace *trace = find(undecided, id_of(&waiting->trait));

		*gone += !waiting->taken;
		if (trace && trace->last.number == chunk->number) {
			trace->last = (struct place){0};
			forget_if_idle(undecided, trace);
		}
	}
	undecided->bytes -= chunk_bytes(chunk);
	batch_unref(chunk->items);
	g_free(chunk->each);
	g_free(chunk);
}

static void add_chunk(
	struct undecided *undecided, struct batch *items, const struct trait *traits, int64_t now)
{
	struct chunk *chunk = g_new(struct chunk, 1);
	uint32_t offset = 0;

	*chunk = (struct chunk){undecided->next++, now, items, g_new(struct waiting, items->count)};
	for (uint32_t i = 0; i < items->count; i++) {
		struct trace *trace = find_or_add(undecided, id_of(&traits[i]));

		chunk->each[i] =
			(struct waiting){.trait = traits[i], .before = trace->last, .offset = offset};
		trace->last = (struct place){chunk, chunk->number, i};
		offset += batch_sizes(items)[i];
	}
	g_queue_push_tail(&undecided->chunks, chunk);
	undecided->count += items->count;
	undecided->bytes += chunk_bytes(chunk);
	while (undecided->bytes > undecided->keep.traces_bytes && undecided->chunks.length) {
		uint32_t gone = 0;

		remove_oldest(undecided, &gone);
		undecided->count -= gone;
		undecided->gone += gone;
		undecided->early += gone;
	}
}

static bool takes(struct undecided *undecided, const struct trait *trait)
{
	const struct trace *trace;

	if (keep_takes(&undecided->keep, trait))
		return true;
	trace = find(undecided, id_of(trait));
	if (!trace || !trace->kept_until)
		return false;
	undecided->asked += trace->asked;
	return true;
}

struct batch *undecided_choose(
	struct undecided *undecided, const struct batch *items, const struct trait *traits, int64_t now)
{
	g_autofree uint8_t *out = g_malloc(items->count), *in = g_malloc(items->count);
	g_autofree struct trait *waiting = g_new(struct trait, items->count);
	uint32_t rest = 0;

	for (uint32_t i = 0; i < items->count; i++) {
		in[i] = takes(undecided, &traits[i]);
		out[i] = !in[i];
		if (out[i])
			waiting[rest++] = traits[i];
	}
	if (!rest)
		return NULL;
	add_chunk(undecided, batch_without(items, in), waiting, now);
	return batch_without(items, out);
}

uint32_t undecided_expire(struct undecided *undecided, int64_t now, bool all, uint32_t *early)
{
	const struct chunk *chunk;
	const struct kept *kept;
	uint32_t gone = 0;

	while ((chunk = g_queue_peek_head(&undecided->chunks)) &&
		(all || now - chunk->came >= undecided->keep.traces_ns))
		remove_oldest(undecided, &gone);
	for (int asked = 0; asked < 2; asked++)
		while ((kept = g_queue_peek_head(&undecided->kept[asked])) && (all || kept->until <= now))
			forget_kept(undecided, asked);
	undecided->count -= gone;
	gone += undecided->gone;
	*early = undecided->early;
	undecided->gone = undecided->early = 0;
	return gone;
}

uint32_t undecided_count(const struct undecided *undecided)
{
	return undecided->count + undecided->gone;
}

void undecided_destroy(struct undecided *undecided)
{
	uint32_t early;

	if (!undecided)
		return;
	undecided_expire(undecided, 0, true, &early);
	g_hash_table_unref(undecided->traces);
	g_ptr_array_unref(undecided->found);
	wanted_unref(undecided->keep.wanted);
	g_free(undecided);
}
