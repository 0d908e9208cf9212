/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/spoolrow.h"

#include <glib.h>
#include <isa-l/crc.h>

/* The column `sent`. */
#define SENT_BEFORE 0x1
#define FORMAT_SHIFT 8
#define FORMAT_MASK 0xff00

/* Of a span in the column `times`: its event time and its size, little-endian. */
struct moment {
	uint64_t time;
	uint32_t size;
} __attribute__((packed));

static uint32_t sum_body(const void *spans, size_t spans_size, const void *times, size_t times_size)
{
	uint32_t sum = crc32_gzip_refl(0, spans, spans_size);

	return crc32_gzip_refl(sum, times, times_size);
}

static uint32_t flags_of(const struct spoolrow *row)
{
	return (row->sent_before ? SENT_BEFORE : 0) | (uint32_t)row->format << FORMAT_SHIFT;
}

static uint32_t sum_head(const struct spoolrow *row)
{
	const uint64_t values[] = {(uint64_t)row->id, row->count, flags_of(row), (uint64_t)row->oldest,
		(uint64_t)row->newest, row->bytes, row->body};
	uint64_t fields[G_N_ELEMENTS(values)];

	for (size_t i = 0; i < G_N_ELEMENTS(values); i++)
		fields[i] = GUINT64_TO_LE(values[i]);
	return crc32_gzip_refl(0, (const void *)fields, sizeof(fields));
}

static void pack_times(struct buffer *times, const struct batch *batch)
{
	struct moment *moment;

	times->size = 0;
	moment = (struct moment *)(void *)buffer_reserve(times, batch->count * sizeof(*moment));
	times->size = batch->count * sizeof(*moment);
	for (uint32_t i = 0; i < batch->count; i++) {
		moment[i].time = GUINT64_TO_LE((uint64_t)batch_events(batch)[i]);
		moment[i].size = GUINT32_TO_LE(batch_sizes(batch)[i]);
	}
}

static void find_times(const struct batch *batch, int64_t *oldest, int64_t *newest)
{
	*oldest = batch->count ? INT64_MAX : 0;
	*newest = 0;
	for (uint32_t i = 0; i < batch->count; i++) {
		*oldest = MIN(*oldest, batch_events(batch)[i]);
		*newest = MAX(*newest, batch_events(batch)[i]);
	}
}

int spoolrow_bind(sqlite3_stmt *insert, int64_t id, const struct entry *entry, struct buffer *times)
{
	const struct batch *batch = entry->batch;
	struct spoolrow row = {
		.id = id,
		.count = batch->count,
		.sent_before = entry->sent_before,
		.format = batch->format,
	};
	int64_t values[8];
	int rc = SQLITE_OK;

	pack_times(times, batch);
	find_times(batch, &row.oldest, &row.newest);
	row.bytes = batch->spans.size;
	row.body = sum_body(batch->spans.data, batch->spans.size, times->data, times->size);
	values[0] = row.id;
	values[1] = row.count;
	values[2] = flags_of(&row);
	values[3] = row.oldest;
	values[4] = row.newest;
	values[5] = (int64_t)row.bytes;
	values[6] = row.body;
	values[7] = sum_head(&row);
	for (int i = 0; i < 8 && rc == SQLITE_OK; i++)
		rc = sqlite3_bind_int64(insert, i + 1, values[i]);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_blob64(insert, 9, batch->spans.data, batch->spans.size, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_blob64(insert, 10, times->data, times->size, SQLITE_STATIC);
	return rc;
}

bool spoolrow_read(sqlite3_stmt *stmt, struct spoolrow *row)
{
	int64_t flags = sqlite3_column_int64(stmt, 2);

	*row = (struct spoolrow){
		.id = sqlite3_column_int64(stmt, 0),
		.count = (uint32_t)sqlite3_column_int64(stmt, 1),
		.sent_before = flags & SENT_BEFORE,
		.format = (uint8_t)((flags & FORMAT_MASK) >> FORMAT_SHIFT),
		.oldest = sqlite3_column_int64(stmt, 3),
		.newest = sqlite3_column_int64(stmt, 4),
		.bytes = (size_t)sqlite3_column_int64(stmt, 5),
		.body = (uint32_t)sqlite3_column_int64(stmt, 6),
	};
	return flags == flags_of(row) && sqlite3_column_int64(stmt, 7) == sum_head(row);
}

/* Takes the times apart; returns false unless their sizes make up the spans. */
static bool unpack_times(struct batch *batch, const struct moment *moment, uint32_t count)
{
	size_t total = 0;

	for (uint32_t i = 0; i < count; i++) {
		int64_t time = (int64_t)GUINT64_FROM_LE(moment[i].time);
		uint32_t size = GUINT32_FROM_LE(moment[i].size);

		total += size;
		buffer_put(&batch->events, &time, sizeof(time));
		buffer_put(&batch->sizes, &size, sizeof(size));
	}
	return total == batch->spans.size;
}

struct entry *spoolrow_read_entry(sqlite3_stmt *stmt, const struct spoolrow *row)
{
	const void *spans = sqlite3_column_blob(stmt, 8), *times = sqlite3_column_blob(stmt, 9);
	size_t spans_size = (size_t)sqlite3_column_bytes(stmt, 8);
	size_t times_size = (size_t)sqlite3_column_bytes(stmt, 9);

	struct batch *batch;
	struct entry *entry;

	if (!spans || !times || spans_size != row->bytes ||
		times_size != row->count * sizeof(struct moment) ||
		sum_body(spans, spans_size, times, times_size) != row->body)
		return NULL;
	batch = batch_create(row->format, row->count, spans_size);
	buffer_put(&batch->spans, spans, spans_size);
	batch->count = row->count;
	entry = entry_create(batch);
	entry->sent_before = row->sent_before;
	entry->spool_id = row->id;
	if (!unpack_times(batch, times, row->count))
		g_clear_pointer(&entry, entry_destroy);
	return entry;
}
