/* SPDX-License-Identifier: BSD-2-Clause */
#include "files/known.h"

struct known_line {
	uint64_t hash;
	uint32_t count;
};

/* FNV-1a */
uint64_t known_hash(const uint8_t *line, size_t size)
{
	uint64_t hash = UINT64_C(14695981039346656037);

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ line[i]) * UINT64_C(1099511628211);
	return hash;
}

void known_add(struct known *known, uint64_t hash)
{
	const struct known_line line = {hash, 1};

	if (!known->lines)
		known->lines = g_array_new(FALSE, FALSE, sizeof(line));
	g_array_append_val(known->lines, line);
}

static gint by_hash(gconstpointer a, gconstpointer b)
{
	uint64_t one = ((const struct known_line *)a)->hash, other = ((const struct known_line *)b)->hash;

	return one < other ? -1 : one > other;
}

void known_sort(struct known *known)
{
	struct known_line *lines;
	guint kept = 0;

	if (!known->lines)
		return;
	g_array_sort(known->lines, by_hash);
	lines = (struct known_line *)(void *)known->lines->data;
	for (guint i = 0; i < known->lines->len; i++) {
		if (kept && lines[kept - 1].hash == lines[i].hash)
			lines[kept - 1].count += lines[i].count;
		else
			lines[kept++] = lines[i];
	}
	g_array_set_size(known->lines, kept);
}

static struct known_line *find(const struct known *known, uint64_t hash)
{
	const struct known_line wanted = {hash, 0};
	guint index;

	if (!known->lines || !g_array_binary_search(known->lines, &wanted, by_hash, &index))
		return NULL;
	return &g_array_index(known->lines, struct known_line, index);
}

bool known_take(struct known *known, uint64_t hash)
{
	struct known_line *line = find(known, hash);

	if (!line || !line->count)
		return false;
	line->count--;
	return true;
}

void known_put_back(struct known *known, uint64_t hash)
{
	find(known, hash)->count++;
}

void known_clear(struct known *known)
{
	if (known->lines)
		g_array_unref(known->lines);
	known->lines = NULL;
	known->until = 0;
}
