/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/sessionrecord.h"

#include <string.h>

static void session_record_destroy(void *data)
{
	struct session_record *record = data;

	buffer_free(&record->done);
	buffer_free(&record->reached);
	g_free(record);
}

GPtrArray *session_records_create(void)
{
	return g_ptr_array_new_with_free_func(session_record_destroy);
}

struct session_record *session_records_add(GPtrArray *records, const struct session_identity *session)
{
	struct session_record *record = g_new0(struct session_record, 1);

	record->session = *session;
	g_ptr_array_add(records, record);
	return record;
}

struct session_record *session_records_find(const GPtrArray *records, const struct session_identity *session)
{
	for (guint i = 0; i < records->len; i++) {
		struct session_record *record = g_ptr_array_index(records, i);

		if (record->session.created == session->created &&
			!strcmp(record->session.name, session->name))
			return record;
	}
	return NULL;
}

static struct session_record *find_or_add(GPtrArray *records, const struct session_identity *session)
{
	struct session_record *record = session_records_find(records, session);

	return record ? record : session_records_add(records, session);
}

void session_records_save(const GPtrArray *records, bool reached, struct buffer *out)
{
	for (guint i = 0; i < records->len; i++) {
		const struct session_record *record = g_ptr_array_index(records, i);
		const struct buffer *list = reached ? &record->reached : &record->done;

		session_identity_save(&record->session, out);
		pack_bytes(out, list->data, list->size);
	}
}

bool session_records_load(GPtrArray *records, struct unpacker *from, bool reached)
{
	uint32_t count = unpack_u32(from);

	for (uint32_t i = 0; i < count && !from->failed; i++) {
		struct session_identity session;
		struct unpacker list;
		struct session_record *record;
		struct buffer *to;

		session_identity_load(from, &session);
		list = unpack_bytes(from);
		if (from->failed)
			return false;
		record = find_or_add(records, &session);
		to = reached ? &record->reached : &record->done;
		to->size = 0;
		buffer_put(to, list.at, (size_t)(list.end - list.at));
	}
	return !from->failed;
}

static struct unpacker list_of(const struct buffer *list)
{
	static const uint8_t none[sizeof(uint32_t)]; /* a list of no positions */

	return list->size ? unpacker_of(list->data, list->size) : unpacker_of(none, sizeof(none));
}

bool session_record_take(const struct session_record *record, struct positions *positions)
{
	return positions_load(positions, list_of(&record->done), list_of(&record->reached));
}
