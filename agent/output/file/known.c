/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/file/known.h"

/* Of lines that are noted: with those before them, so many to twice as many are kept. */
#define NOTED_MAX 200000

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

void known_begin(struct known *known)
{
	known_clear(known);
	known->lines = g_array_new(FALSE, FALSE, sizeof(struct known_line));
}

void known_add(struct known *known, uint64_t hash)
{
	const struct known_line line = {hash, 1};

	if (!known->lines)
		known_begin(known);
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

bool known_has(const struct known *known, uint64_t hash)
{
	return find(known, hash) != NULL;
}

static gpointer key_of(uint64_t hash)
{
	return (gpointer)(uintptr_t)hash; /* NOLINT(performance-no-int-to-ptr): never followed */
}

static void forget_noted(struct known *known, int which)
{
	if (known->noted[which])
		g_hash_table_unref(known->noted[which]);
	known->noted[which] = NULL;
}

void known_note(struct known *known, uint64_t hash)
{
	if (known->noted[0] && g_hash_table_size(known->noted[0]) >= NOTED_MAX) {
		forget_noted(known, 1);
		known->noted[1] = known->noted[0];
		known->noted[0] = NULL;
	}
	if (!known->noted[0])
		known->noted[0] = g_hash_table_new(NULL, NULL);
	g_hash_table_add(known->noted[0], key_of(hash));
}

void known_forget(struct known *known, uint64_t hash)
{
	for (int i = 0; i < 2; i++)
		if (known->noted[i])
			g_hash_table_remove(known->noted[i], key_of(hash));
}

bool known_is_noted(const struct known *known, uint64_t hash)
{
	for (int i = 0; i < 2; i++)
		if (known->noted[i] && g_hash_table_contains(known->noted[i], key_of(hash)))
			return true;
	return false;
}

void known_clear(struct known *known)
{
	forget_noted(known, 0);
	forget_noted(known, 1);
	if (known->lines)
		g_array_unref(known->lines);
	known->lines = NULL;
	known->until = 0;
}
