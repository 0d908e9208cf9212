/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/stage.h"

#include <string.h>

static void stage_destroy(void *data)
{
	struct stage *stage = data;

	buffer_free(&stage->done);
	buffer_free(&stage->reached);
	g_free(stage);
}

GPtrArray *stages_create(void)
{
	return g_ptr_array_new_with_free_func(stage_destroy);
}

struct stage *stages_add(GPtrArray *stages, const struct session_identity *session)
{
	struct stage *stage = g_new0(struct stage, 1);

	stage->session = *session;
	g_ptr_array_add(stages, stage);
	return stage;
}

static struct stage *find_or_add(GPtrArray *stages, const struct session_identity *session)
{
	for (guint i = 0; i < stages->len; i++) {
		struct stage *stage = g_ptr_array_index(stages, i);

		if (stage->session.created == session->created && !strcmp(stage->session.name, session->name))
			return stage;
	}
	return stages_add(stages, session);
}

void stages_save(const GPtrArray *stages, bool reached, struct buffer *out)
{
	for (guint i = 0; i < stages->len; i++) {
		const struct stage *stage = g_ptr_array_index(stages, i);
		const struct buffer *list = reached ? &stage->reached : &stage->done;

		session_identity_save(&stage->session, out);
		pack_bytes(out, list->data, list->size);
	}
}

bool stages_load(GPtrArray *stages, struct unpacker *from, bool reached)
{
	uint32_t count = unpack_u32(from);

	for (uint32_t i = 0; i < count && !from->failed; i++) {
		struct session_identity session;
		struct unpacker list;
		struct stage *stage;
		struct buffer *to;

		session_identity_load(from, &session);
		list = unpack_bytes(from);
		if (from->failed)
			return false;
		stage = find_or_add(stages, &session);
		to = reached ? &stage->reached : &stage->done;
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

bool stage_take(const struct stage *stage, struct positions *positions)
{
	return positions_load(positions, list_of(&stage->done), list_of(&stage->reached));
}
