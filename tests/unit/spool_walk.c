/* SPDX-License-Identifier: BSD-2-Clause */
#include "spool_walk.h"

#include <check.h>

#include "output/spool/spoolfile.h"
#include "spool_harm.h"

#define PAGE SPOOLFILE_PAGE

static unsigned two(const uint8_t *at)
{
	return (unsigned)at[0] << 8 | at[1];
}

static uint32_t four(const uint8_t *at)
{
	return (uint32_t)two(at) << 16 | two(at + 2);
}

static const uint8_t *varint(const uint8_t *at, uint64_t *value)
{
	*value = 0;
	for (int i = 0; i < 8; i++) {
		*value = *value << 7 | (*at & 0x7f);
		if (!(*at++ & 0x80))
			return at;
	}
	*value = *value << 8 | *at++;
	return at;
}

/* Of a payload of @size, what a leaf of a table keeps itself: the file format's rule. */
static size_t local_part(size_t size)
{
	size_t usable = PAGE, most = usable - 35, least = (usable - 12) * 32 / 255 - 23;
	size_t part = least + (size - least) % (usable - 4);

	if (size <= most)
		return size;
	return part <= most ? part : least;
}

/* Bytes up to @end are needed, but of zeros at the end of a page only that the page is there, in part. */
static size_t needed(const struct walk *walk, size_t end)
{
	size_t start = (end - 1) / PAGE * PAGE;

	while (end > start + 1 && !walk->file[end - 1])
		end--;
	return end;
}

static void walk_cell(struct walk *walk, const uint8_t *cell, size_t end)
{
	uint64_t size, id;
	const uint8_t *payload = varint(varint(cell, &size), &id);
	size_t here = local_part(size), left = size - here;
	uint32_t page = left ? four(payload + here) : 0;
	struct piece piece = {(int64_t)id, end, (size_t)(payload + here - 1 - walk->file)};

	piece.end = MAX(piece.end, needed(walk, (size_t)(payload + here + (left ? 4 : 0) - walk->file)));
	for (; left; page = four(walk->file + (page - 1) * (size_t)PAGE)) {
		size_t part = MIN(left, PAGE - 4);

		piece.last = (page - 1) * (size_t)PAGE + 4 + part - 1;
		piece.end = MAX(piece.end, needed(walk, piece.last + 1));
		left -= part;
	}
	g_array_append_val(walk->needs, piece);
}

/* @end: what must be there of the pages above. */
static void walk_page(struct walk *walk, uint32_t number, size_t end)
{
	size_t start = (number - 1) * (size_t)PAGE;
	const uint8_t *page = walk->file + start;
	bool leaf = page[0] == 13;
	unsigned cells = two(page + 3), head = leaf ? 8 : 12;

	ck_assert(leaf || page[0] == 5);
	end = MAX(end, leaf ? start + head + 2 * cells : start + PAGE);
	for (unsigned i = 0; i < cells; i++) {
		const uint8_t *cell = page + two(page + head + 2 * i);

		if (leaf)
			walk_cell(walk, cell, end);
		else
			walk_page(walk, four(cell), end);
	}
	if (!leaf)
		walk_page(walk, four(page + 8), end);
}

static uint32_t root_of_batches(const char *path)
{
	sqlite3_stmt *stmt;
	sqlite3 *db;
	uint32_t root;
	int rc;

	db = spoolfile_open(path, SQLITE_OPEN_READWRITE, &rc);
	stmt = spoolfile_prepare(db, "SELECT rootpage FROM sqlite_schema WHERE name = 'batch'", &rc);
	ck_assert_int_eq(sqlite3_step(stmt), SQLITE_ROW);
	root = (uint32_t)sqlite3_column_int(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(db);
	return root;
}

void walk_good(struct walk *walk)
{
	g_autofree char *path = harm_path(harm_good, "");
	uint32_t root = root_of_batches(path);
	char *data;

	ck_assert(g_file_get_contents(path, &data, &walk->size, NULL));
	walk->file = (const uint8_t *)data;
	walk->size = MIN(walk->size, four(walk->file + 28) * (size_t)PAGE);
	walk->needs = g_array_new(FALSE, FALSE, sizeof(struct piece));
	walk_page(walk, root, 0);
}

void walk_free(struct walk *walk)
{
	g_free((void *)walk->file);
	g_array_unref(walk->needs);
}

int64_t walk_survivors(const struct walk *walk, size_t size)
{
	int64_t count = 0;

	for (guint i = 0; i < walk->needs->len; i++)
		count += g_array_index(walk->needs, struct piece, i).end <= size;
	return count;
}
