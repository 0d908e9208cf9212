/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/snapshot.h"

#include <string.h>

static void clear_series(void *data)
{
	struct series *series = data;

	g_free(series->service);
	g_free(series->name);
	histogram_clear(&series->histogram);
}

static void clear_program(void *data)
{
	g_free(((struct program *)data)->name);
}

void snapshot_init(struct snapshot *snapshot)
{
	*snapshot = (struct snapshot){
		.series = g_array_new(FALSE, TRUE, sizeof(struct series)),
		.programs = g_array_new(FALSE, TRUE, sizeof(struct program)),
	};
	g_array_set_clear_func(snapshot->series, clear_series);
	g_array_set_clear_func(snapshot->programs, clear_program);
}

void snapshot_clear(struct snapshot *snapshot)
{
	if (snapshot->series)
		g_array_unref(snapshot->series);
	if (snapshot->programs)
		g_array_unref(snapshot->programs);
	*snapshot = (struct snapshot){0};
}

/* Differences */

static const char *or_empty(const char *text)
{
	return text ? text : "\1"; /* which sorts apart from all names */
}

static guint hash_series(const void *key)
{
	const struct series *series = key;

	return g_str_hash(or_empty(series->service)) * 31 + g_str_hash(or_empty(series->name));
}

static gboolean equal_series(const void *a, const void *b)
{
	const struct series *one = a, *other = b;

	return !g_strcmp0(one->service, other->service) && !g_strcmp0(one->name, other->name);
}

static guint hash_program(const void *key)
{
	const struct program *program = key;

	return g_str_hash(or_empty(program->name)) * 31 + program->pid + program->user;
}

static gboolean equal_programs(const void *a, const void *b)
{
	const struct program *one = a, *other = b;

	return one->pid == other->pid && one->user == other->user && !g_strcmp0(one->name, other->name);
}

static void subtract_series(struct series *now, const struct series *before)
{
	bool new_max = now->max > before->max;

	now->spans -= MIN(now->spans, before->spans);
	now->errors -= MIN(now->errors, before->errors);
	now->timed -= MIN(now->timed, before->timed);
	now->sum -= MIN(now->sum, before->sum);
	histogram_subtract(&now->histogram, &before->histogram);
	if (!now->timed)
		now->max = 0;
	else if (!new_max && now->histogram.used)
		now->max = MIN(now->max,
			(uint64_t)histogram_middle(now->histogram.counts[now->histogram.used - 1].bucket));
}

static void subtract_program(struct program *now, const struct program *before)
{
	if (now->max <= before->max)
		now->max = SNAPSHOT_MAX_UNKNOWN;
	now->spans -= MIN(now->spans, before->spans);
	now->errors -= MIN(now->errors, before->errors);
	now->timed -= MIN(now->timed, before->timed);
	now->sum -= MIN(now->sum, before->sum);
}

static GHashTable *index_of(GArray *list, GHashFunc hash, GEqualFunc equal)
{
	GHashTable *table = g_hash_table_new(hash, equal);
	guint size = g_array_get_element_size(list);

	for (guint i = 0; i < list->len; i++)
		g_hash_table_add(table, list->data + (gsize)i * size);
	return table;
}

void snapshot_subtract(struct snapshot *now, const struct snapshot *before)
{
	g_autoptr(GHashTable) series = index_of(before->series, hash_series, equal_series);
	g_autoptr(GHashTable) programs = index_of(before->programs, hash_program, equal_programs);

	now->age -= before->age;
	for (guint i = now->series->len; i > 0; i--) {
		struct series *one = &g_array_index(now->series, struct series, i - 1);
		const struct series *old = g_hash_table_lookup(series, one);

		if (old)
			subtract_series(one, old);
		if (!one->spans)
			g_array_remove_index_fast(now->series, i - 1);
	}
	for (guint i = now->programs->len; i > 0; i--) {
		struct program *one = &g_array_index(now->programs, struct program, i - 1);
		const struct program *old = g_hash_table_lookup(programs, one);

		if (old)
			subtract_program(one, old);
		if (!one->spans)
			g_array_remove_index_fast(now->programs, i - 1);
	}
}

/* Bytes */

static void pack_name(struct buffer *out, const char *name)
{
	pack_u8(out, name != NULL);
	if (name)
		pack_text(out, name);
}

static char *unpack_name(struct unpacker *from)
{
	struct unpacker bytes;

	if (!unpack_u8(from))
		return NULL;
	bytes = unpack_bytes(from);
	return bytes.failed ? NULL : g_strndup((const char *)bytes.at, (size_t)(bytes.end - bytes.at));
}

static void pack_series(struct buffer *out, const struct series *series)
{
	pack_name(out, series->service);
	pack_name(out, series->name);
	pack_u64(out, series->spans);
	pack_u64(out, series->errors);
	pack_u64(out, series->timed);
	pack_u64(out, series->sum);
	pack_u64(out, series->max);
	pack_u8(out, series->fine);
	pack_u32(out, series->histogram.used);
	for (uint32_t i = 0; i < series->histogram.used; i++) {
		pack_u32(out, series->histogram.counts[i].bucket);
		pack_u64(out, series->histogram.counts[i].count);
	}
}

static void unpack_series(struct unpacker *from, struct snapshot *snapshot)
{
	struct series series = {.service = unpack_name(from), .name = unpack_name(from)};
	uint32_t buckets;

	series.spans = unpack_u64(from);
	series.errors = unpack_u64(from);
	series.timed = unpack_u64(from);
	series.sum = unpack_u64(from);
	series.max = unpack_u64(from);
	series.fine = unpack_u8(from) != 0;
	buckets = unpack_u32(from);
	for (uint32_t i = 0; i < buckets && !from->failed; i++) {
		uint32_t bucket = unpack_u32(from);
		uint64_t count = unpack_u64(from);

		from->failed |= bucket >= HISTOGRAM_BUCKETS;
		histogram_append(&series.histogram, bucket, count);
	}
	g_array_append_val(snapshot->series, series);
}

static void pack_program(struct buffer *out, const struct program *program)
{
	pack_name(out, program->name);
	pack_u32(out, program->pid);
	pack_u32(out, program->user);
	pack_u64(out, program->spans);
	pack_u64(out, program->errors);
	pack_u64(out, program->timed);
	pack_u64(out, program->sum);
	pack_u64(out, program->max);
}

static void unpack_program(struct unpacker *from, struct snapshot *snapshot)
{
	struct program program = {.name = unpack_name(from)};

	program.pid = unpack_u32(from);
	program.user = unpack_u32(from);
	program.spans = unpack_u64(from);
	program.errors = unpack_u64(from);
	program.timed = unpack_u64(from);
	program.sum = unpack_u64(from);
	program.max = unpack_u64(from);
	g_array_append_val(snapshot->programs, program);
}

void snapshot_pack(struct buffer *out, const struct snapshot *snapshot)
{
	pack_u64(out, (uint64_t)snapshot->began);
	pack_u64(out, (uint64_t)snapshot->age);
	pack_u32(out, LEDGER_ROWS);
	for (int i = 0; i < LEDGER_ROWS; i++)
		pack_u64(out, (uint64_t)snapshot->rows.row[i]);
	pack_u64(out, snapshot->unnamed);
	pack_u32(out, snapshot->series->len);
	for (guint i = 0; i < snapshot->series->len; i++)
		pack_series(out, &g_array_index(snapshot->series, struct series, i));
	pack_u32(out, snapshot->programs->len);
	for (guint i = 0; i < snapshot->programs->len; i++)
		pack_program(out, &g_array_index(snapshot->programs, struct program, i));
}

bool snapshot_unpack(struct unpacker *from, struct snapshot *snapshot)
{
	uint32_t count;

	snapshot_init(snapshot);
	snapshot->began = (int64_t)unpack_u64(from);
	snapshot->age = (int64_t)unpack_u64(from);
	from->failed |= unpack_u32(from) != LEDGER_ROWS;
	for (int i = 0; i < LEDGER_ROWS; i++)
		snapshot->rows.row[i] = (int64_t)unpack_u64(from);
	snapshot->unnamed = unpack_u64(from);
	count = unpack_u32(from);
	for (uint32_t i = 0; i < count && !from->failed; i++)
		unpack_series(from, snapshot);
	count = unpack_u32(from);
	for (uint32_t i = 0; i < count && !from->failed; i++)
		unpack_program(from, snapshot);
	if (!from->failed && from->at == from->end)
		return true;
	snapshot_clear(snapshot);
	snapshot_init(snapshot);
	return false;
}
