/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/discardtalk.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "base/sanitize.h"
#include "status/protocol.h"

static bool get_number(const char *text, int64_t *number)
{
	guint64 value;

	if (!text || !g_ascii_string_to_unsigned(text, 10, 0, INT64_MAX, &value, NULL))
		return false;
	*number = (int64_t)value;
	return true;
}

void discardtalk_put_question(struct buffer *query, const struct discard_question *question)
{
	buffer_printf(query, "protocol=%d&output=%s", PROTOCOL_VERSION, question->output);
	if (question->before != INT64_MAX)
		buffer_printf(query, "&before=%" PRId64, question->before);
}

static bool get_question(GHashTable *parameters, struct discard_question *question)
{
	const char *output = g_hash_table_lookup(parameters, "output");
	const char *before = g_hash_table_lookup(parameters, "before");
	int64_t version;

	if (!get_number(g_hash_table_lookup(parameters, "protocol"), &version) || version != PROTOCOL_VERSION)
		return false;
	if (!output || !spoolname_is_good(output))
		return false;
	if (g_hash_table_size(parameters) != (before ? 3 : 2))
		return false; /* what is not understood may not be left out of an order */
	g_strlcpy(question->output, output, sizeof(question->output));
	question->before = INT64_MAX;
	return !before || get_number(before, &question->before);
}

bool discardtalk_get_question(const char *query, struct discard_question *question)
{
	g_autoptr(GHashTable) parameters = NULL;

	memset(question, 0, sizeof(*question));
	if (query)
		parameters = g_uri_parse_params(query, -1, "&", G_URI_PARAMS_NONE, NULL);
	if (parameters && get_question(parameters, question))
		return true;
	memset(question, 0, sizeof(*question));
	return false;
}

void discardtalk_put_answer(struct buffer *out, const struct discard_state *state)
{
	buffer_printf(out,
		"order %" PRIu64 "\nover %d\nbatches %" PRId64 "\nspans %" PRId64 "\nunder-way %" PRId64
		"\nerror %s\n",
		state->order, state->over, state->batches, state->spans, state->under_way, state->error);
}

static bool get_line(const char *key, const char *value, struct discard_state *state)
{
	int64_t number = 0;

	if (g_str_equal(key, "error")) {
		words_copy(state->error, sizeof(state->error), (const uint8_t *)value, strlen(value));
		return true;
	}
	if (!get_number(value, &number))
		return false;
	if (g_str_equal(key, "order"))
		state->order = (uint64_t)number;
	if (g_str_equal(key, "over"))
		state->over = number;
	if (g_str_equal(key, "batches"))
		state->batches = number;
	if (g_str_equal(key, "spans"))
		state->spans = number;
	if (g_str_equal(key, "under-way"))
		state->under_way = number;
	return true;
}

bool discardtalk_get_answer(const char *text, struct discard_state *state)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	unsigned found = 0;

	memset(state, 0, sizeof(*state));
	for (char **line = lines; *line; line++) {
		char *value = strchr(*line, ' ');

		if (!value)
			continue;
		*value = '\0';
		if (!get_line(*line, value + 1, state))
			return false;
		found++;
	}
	return found >= 6;
}
