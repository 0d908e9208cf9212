/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Damage to the spool's file, of every kind: what survives is delivered, exactly, and the rest is counted.
 * What ought to survive is told by a walk over the file's pages that owes nothing to SQLite.
 */
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "spool_rig.h"
#include "spoolfile.h"
#include "tally.h"

#define MIB (1024 * 1024)
#define PAGE SPOOLFILE_PAGE

/* A folder with a spool of known content, and the one that is damaged. */
static char *good, *bad;

static void setup(void)
{
	rig_clear();
	good = rig_path(rig_folder, "good");
	bad = rig_path(rig_folder, "bad");
	g_mkdir(good, 0700);
	g_mkdir(bad, 0700);
}

static void teardown(void)
{
	g_free(good);
	g_free(bad);
}

static char *in(const char *folder, const char *suffix)
{
	return g_strconcat(folder, "/" SPOOLFILE_NAME, suffix, NULL);
}

/* Makes bad's files those of good. */
static void copy_all(void)
{
	static const char *const names[] = {"", "-wal"};

	for (int i = 0; i < 2; i++) {
		g_autofree char *from = in(good, names[i]), *to = in(bad, names[i]);

		rig_copy(from, to);
	}
	g_autofree char *shm = in(bad, "-shm"), *from = rig_path(good, SPOOLFILE_TALLY),
			*to = rig_path(bad, SPOOLFILE_TALLY);

	g_remove(shm);
	rig_copy(from, to);
}

static unsigned count_aside(void)
{
	GDir *dir = g_dir_open(bad, 0, NULL);
	unsigned count = 0;
	const char *name;

	while ((name = g_dir_read_name(dir)))
		count += strstr(name, ".aside-") && !g_str_has_suffix(name, "-wal");
	g_dir_close(dir);
	return count;
}

static void remove_aside(void)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(bad, 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(dir)))
		if (strstr(name, ".aside-"))
			g_ptr_array_add(names, rig_path(bad, name));
	g_dir_close(dir);
	for (guint i = 0; i < names->len; i++)
		g_remove(names->pdata[i]);
}

/* Opens bad, drains it, and checks that of @total spans @survivors came and the rest was counted; that it
 * then works on. */
static void assert_survivors(int64_t total, int64_t survivors, const char *what, int64_t where)
{
	struct spool *spool = rig_open(bad, 16 * MIB);
	int64_t drained = rig_drain(spool, NULL), lost = rig_corrupt(spool);

	ck_assert_msg(drained == survivors && lost == total - survivors,
		"%s %lld: %lld spans came, %lld were counted as lost; it should be %lld and %lld", what,
		(long long)where, (long long)drained, (long long)lost, (long long)survivors,
		(long long)(total - survivors));
	rig_fill(spool, 1000000, 1, 3, 100);
	ck_assert_int_eq(rig_drain(spool, NULL), 3);
	ck_assert_int_eq(rig_corrupt(spool), 0);
	spool_destroy(spool);
}

/* The oracle: where in the file each batch has its bytes */

struct piece {
	int64_t id;
	size_t end; /* of the bytes that it needs, of the pages' own tables too */
};

struct walk {
	const uint8_t *file;
	size_t size;   /* in use: behind that the file may have room for more */
	GArray *needs; /* of struct piece, one a batch: the highest end */
};

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
	struct piece piece = {(int64_t)id, end};

	piece.end = MAX(piece.end, needed(walk, (size_t)(payload + here + (left ? 4 : 0) - walk->file)));
	for (; left; page = four(walk->file + (page - 1) * (size_t)PAGE)) {
		size_t part = MIN(left, PAGE - 4);

		piece.end = MAX(piece.end, needed(walk, (page - 1) * (size_t)PAGE + 4 + part));
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

/* All of good's batches. */
static void walk_good(struct walk *walk)
{
	g_autofree char *path = in(good, "");
	uint32_t root = root_of_batches(path);
	char *data;

	ck_assert(g_file_get_contents(path, &data, &walk->size, NULL));
	walk->file = (const uint8_t *)data;
	walk->size = MIN(walk->size, four(walk->file + 28) * (size_t)PAGE);
	walk->needs = g_array_new(FALSE, FALSE, sizeof(struct piece));
	walk_page(walk, root, 0);
}

static void walk_free(struct walk *walk)
{
	g_free((void *)walk->file);
	g_array_unref(walk->needs);
}

static int64_t survivors_of(const struct walk *walk, size_t size)
{
	int64_t count = 0;

	for (guint i = 0; i < walk->needs->len; i++)
		count += g_array_index(walk->needs, struct piece, i).end <= size;
	return count;
}

/* Batches of three spans, large enough for pages of their own, in a file without a log. */
#define BATCHES 12
#define SPANS 3

static void fill_good(void)
{
	struct spool *spool = rig_open(good, 16 * MIB);

	for (int i = 0; i < BATCHES; i++)
		rig_fill(spool, i * SPANS, 1, SPANS, 300 + (size_t)(i * 977 % 1500));
	spool_destroy(spool);
}

/* Cut off at every byte of its last page, at every few of those before, and at every page of the rest. */
START_TEST(test_file_cut_off)
{
	g_autofree char *path = in(bad, "");
	struct walk walk;
	size_t step;

	fill_good();
	walk_good(&walk);
	ck_assert_uint_eq(walk.needs->len, BATCHES);
	ck_assert_int_eq(survivors_of(&walk, walk.size), BATCHES);
	for (size_t size = walk.size; size > 0; size -= MIN(size, step)) {
		copy_all();
		ck_assert_int_eq(truncate(path, (off_t)size), 0);
		/* A file that does not end with a page is as long as its last full one, and a part. */
		assert_survivors(
			BATCHES * SPANS, survivors_of(&walk, size) * SPANS, "cut off at", (int64_t)size);
		ck_assert_uint_ge(count_aside(), survivors_of(&walk, size) < BATCHES);
		remove_aside();
		step = size > walk.size - PAGE ? 1 : size > walk.size - 3 * PAGE ? 5 : PAGE / 3;
	}
	walk_free(&walk);
}
END_TEST

/* The log cut off at every byte of its last page: what was committed before is there, the rest is counted.
 */
START_TEST(test_log_cut_off)
{
	g_autofree char *from = in(good, "-wal"), *path = in(bad, "-wal");
	struct spool *spool = rig_open(good, 16 * MIB);
	size_t ends[BATCHES] = {0}, step;
	GStatBuf file;

	for (int i = 0; i < BATCHES; i++) {
		rig_fill(spool, i * SPANS, 1, SPANS, 700);
		ck_assert_int_eq(g_stat(from, &file), 0);
		ends[i] = (size_t)file.st_size;
	}
	for (size_t size = ends[BATCHES - 1]; size > 0; size -= MIN(size, step)) {
		int64_t survivors = 0;

		copy_all();
		ck_assert_int_eq(truncate(path, (off_t)size), 0);
		for (int i = 0; i < BATCHES; i++)
			survivors += ends[i] <= size ? SPANS : 0;
		assert_survivors(BATCHES * SPANS, survivors, "log cut off at", (int64_t)size);
		ck_assert_uint_eq(count_aside(), 0);
		step = size > ends[BATCHES - 1] - PAGE - 64 ? 1 : 997;
	}
	spool_destroy(spool);
}
END_TEST

/* Deletions that were in the lost end of the log are not undone: what was delivered is not delivered again.
 */
START_TEST(test_log_of_deletions_lost)
{
	g_autofree char *wal = in(bad, "-wal");
	struct spool *spool = rig_open(good, 16 * MIB);
	struct batch batch = {0};
	int64_t id = 0;

	rig_fill(spool, 0, 10, SPANS, 500);
	spool_destroy(spool);
	spool = rig_open(good, 16 * MIB);
	for (int i = 0; i < 4; i++) {
		ck_assert_int_eq(spool_read(spool, id, &batch), SPOOL_READ);
		id = batch.spool_id;
		ck_assert(spool_delete(spool, &id, 1));
	}
	copy_all();
	ck_assert_int_eq(truncate(wal, 0), 0);
	assert_survivors(6 * SPANS, 6 * SPANS, "deletions lost", 0);
	spool_destroy(spool);
	buffer_free(&batch.spans);
	buffer_free(&batch.sizes);
	buffer_free(&batch.events);
}
END_TEST

static void flip(const char *path, size_t at, uint8_t bits)
{
	int fd = open(path, O_RDWR);
	uint8_t byte;

	ck_assert_int_eq(pread(fd, &byte, 1, (off_t)at), 1);
	byte ^= bits;
	ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
}

/*
 * A bit flipped at every few bytes of the file. No span comes that is not what it was, and what does not come
 * is counted; a flip within one batch's bytes costs that batch and no other.
 */
START_TEST(test_bit_flipped)
{
	g_autofree char *path = in(bad, "");
	struct walk walk;
	int64_t lost_most = 0, hits = 0;

	fill_good();
	walk_good(&walk);
	for (size_t at = 0; at < walk.size; at += 23) {
		struct spool *spool;
		int64_t drained, lost;

		copy_all();
		flip(path, at, (uint8_t)(1 << at % 8));
		spool = rig_open(bad, 16 * MIB);
		drained = rig_drain(spool, NULL);
		lost = rig_corrupt(spool);
		ck_assert_msg(drained + lost == BATCHES * SPANS, "flipped at %zu: %lld came, %lld counted",
			at, (long long)drained, (long long)lost);
		lost_most = MAX(lost_most, at >= PAGE ? lost : 0);
		hits += lost > 0;
		spool_destroy(spool);
		remove_aside();
	}
	ck_assert_int_gt(hits, (int64_t)(walk.size / 23 / 3));
	walk_free(&walk);
}
END_TEST

/* A byte within the spans of one batch: that batch is lost, and no other. */
START_TEST(test_batch_damaged)
{
	g_autofree char *path = in(bad, "");
	struct walk walk;

	fill_good();
	walk_good(&walk);
	for (guint i = 0; i < walk.needs->len; i++) {
		copy_all();
		flip(path, g_array_index(walk.needs, struct piece, i).end - 1, 0x10);
		assert_survivors(BATCHES * SPANS, (BATCHES - 1) * SPANS, "damage to batch", (int64_t)i);
		ck_assert_uint_eq(count_aside(), 1);
		remove_aside();
	}
	walk_free(&walk);
}
END_TEST

/* The same while it is open: what is in memory, under way, is neither lost nor counted twice. */
START_TEST(test_damage_under_a_running_agent)
{
	g_autofree char *path = in(good, "");
	struct spool *spool = rig_open(good, 16 * MIB);
	struct batch batch = {0};
	struct spool_holds holds;
	struct walk walk;
	int64_t first, drained;

	rig_fill(spool, 0, BATCHES, SPANS, 50000); /* more than SQLite keeps in memory */
	spool_destroy(spool);
	walk_good(&walk);
	spool = rig_open(good, 16 * MIB);
	ck_assert_int_eq(spool_read(spool, 0, &batch), SPOOL_READ);
	first = batch.spool_id;
	flip(path, g_array_index(walk.needs, struct piece, 0).end - 1, 1);
	flip(path, g_array_index(walk.needs, struct piece, 5).end - 1, 1);
	/* batch 0 is under way and goes with the file; batch 5 is lost */
	for (int64_t after = first; spool_read(spool, after, &batch) == SPOOL_READ; after = batch.spool_id)
		;
	ck_assert_int_eq(rig_corrupt(spool), SPANS);
	spool_read_holds(spool, &holds);
	ck_assert_int_eq(holds.spans, (BATCHES - 2) * SPANS);
	ck_assert(spool_delete(spool, &first, 1));
	drained = rig_drain(spool, NULL);
	ck_assert_int_eq(drained, (BATCHES - 2) * SPANS);
	ck_assert_int_eq(rig_corrupt(spool), 0);
	spool_destroy(spool);
	walk_free(&walk);
	buffer_free(&batch.spans);
	buffer_free(&batch.sizes);
	buffer_free(&batch.events);
}
END_TEST

/* The file is removed, or another put in its place, while the agent runs. */
START_TEST(test_file_removed_under_a_running_agent)
{
	g_autofree char *path = in(good, "");
	struct spool *spool = rig_open(good, 16 * MIB);

	rig_fill(spool, 0, 10, SPANS, 300);
	ck_assert_int_eq(g_remove(path), 0);
	rig_fill(spool, 100, 2, SPANS, 300);
	ck_assert_int_eq(rig_corrupt(spool), 10 * SPANS);
	ck_assert_int_eq(rig_drain(spool, NULL), 2 * SPANS);
	spool_destroy(spool);
}
END_TEST

enum { NOT_THERE, EMPTY, TEXT, OTHER_DATABASE, NEWER, FOLDER, LINK, ONLY_HEADER, KINDS };

static void put_instead(const char *path, int kind)
{
	sqlite3 *db;
	int rc;

	g_remove(path);
	switch (kind) {
	case NOT_THERE:
		break;
	case EMPTY:
		g_file_set_contents(path, "", 0, NULL);
		break;
	case TEXT:
		g_file_set_contents(path, "Dear diary, today ", -1, NULL);
		break;
	case OTHER_DATABASE:
		db = spoolfile_open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, &rc);
		sqlite3_exec(db, "CREATE TABLE batch (id INTEGER PRIMARY KEY, spans BLOB)", NULL, NULL, NULL);
		sqlite3_close(db);
		break;
	case NEWER:
		copy_all();
		db = spoolfile_open(path, SQLITE_OPEN_READWRITE, &rc);
		sqlite3_exec(db, "PRAGMA user_version=2", NULL, NULL, NULL);
		sqlite3_close(db);
		break;
	case FOLDER:
		g_mkdir(path, 0700);
		break;
	case LINK:
		ck_assert_int_eq(symlink("/etc/passwd", path), 0);
		break;
	case ONLY_HEADER:
		copy_all();
		ck_assert_int_eq(truncate(path, 100), 0);
		break;
	}
}

/* What is no spool is set aside, and what the tally knows of is counted. */
START_TEST(test_something_else_in_its_place)
{
	g_autofree char *path = in(bad, "");

	fill_good();
	copy_all();
	put_instead(path, _i);
	assert_survivors(BATCHES * SPANS, 0, "something else, kind", _i);
	ck_assert_uint_eq(count_aside(), _i != NOT_THERE);
}
END_TEST

/* Without a tally nothing is known of what was there, but what is there is used. */
START_TEST(test_tally_gone_or_garbage)
{
	g_autofree char *tally = rig_path(bad, SPOOLFILE_TALLY), *path = in(bad, "");
	char garbage[200];
	struct walk walk;

	memset(garbage, 'x', sizeof(garbage));
	fill_good();
	walk_good(&walk);
	copy_all();
	g_remove(tally);
	assert_survivors(BATCHES * SPANS, BATCHES * SPANS, "no tally", 0);
	copy_all();
	g_file_set_contents(tally, garbage, sizeof(garbage), NULL);
	assert_survivors(BATCHES * SPANS, BATCHES * SPANS, "garbage for a tally", 0);
	/* one batch damaged, and the book in the file tells how many there were */
	copy_all();
	g_remove(tally);
	flip(path, g_array_index(walk.needs, struct piece, 3).end - 1, 1);
	assert_survivors(BATCHES * SPANS, (BATCHES - 1) * SPANS, "no tally, and damage", 0);
	walk_free(&walk);
}
END_TEST

/* A tally that is half written: the other slot is as good. */
START_TEST(test_tally_half_written)
{
	g_autofree char *path = rig_path(bad, SPOOLFILE_TALLY), *file = in(bad, "");
	char error[200];
	int fd;

	fill_good();
	for (size_t slot = 0; slot < 2; slot++) {
		struct tally before, after;

		copy_all();
		fd = tally_open(path, error, sizeof(error));
		ck_assert(tally_read(fd, &before));
		close(fd);
		flip(path, 64 * slot + 20, 4);
		fd = tally_open(path, error, sizeof(error));
		ck_assert(tally_read(fd, &after));
		close(fd);
		ck_assert_uint_ge(after.sequence + 1, before.sequence);
		assert_survivors(BATCHES * SPANS, BATCHES * SPANS, "half a tally", (int64_t)slot);
	}
}
END_TEST

START_TEST(test_files_aside_are_bounded)
{
	g_autofree char *path = in(bad, "");

	for (int i = 0; i < 6; i++) {
		g_file_set_contents(path, "no database", -1, NULL);
		spool_destroy(rig_open(bad, 16 * MIB));
		g_remove(path);
	}
	ck_assert_uint_eq(count_aside(), SPOOLFILE_ASIDE_MAX);
}
END_TEST

/* A crash while a damaged file is replaced: at every step the next start finds its way. */
START_TEST(test_crash_while_replacing)
{
	g_autofree char *path = in(bad, ""), *new = in(bad, ".new"), *wal = in(bad, "-wal");

	fill_good();
	/* the new file was not whole: it is thrown away */
	copy_all();
	g_file_set_contents(new, "SQLite format 3", 16, NULL);
	assert_survivors(BATCHES * SPANS, BATCHES * SPANS, "a new file that is not whole", 0);
	ck_assert(!g_file_test(new, G_FILE_TEST_EXISTS));
	/* the old file was set aside, its log was not, and the new one has no name yet */
	copy_all();
	ck_assert_int_eq(g_rename(path, new), 0);
	g_file_set_contents(wal, "the log of a file that is gone", -1, NULL);
	assert_survivors(BATCHES * SPANS, BATCHES * SPANS, "a new file without its name", 0);
}
END_TEST

Suite *spool_damage_suite(void)
{
	Suite *suite = suite_create("damage to the spool");
	TCase *tcase = tcase_create("damage");

	tcase_set_timeout(tcase, 600);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, test_file_cut_off);
	tcase_add_test(tcase, test_log_cut_off);
	tcase_add_test(tcase, test_log_of_deletions_lost);
	tcase_add_test(tcase, test_bit_flipped);
	tcase_add_test(tcase, test_batch_damaged);
	tcase_add_test(tcase, test_damage_under_a_running_agent);
	tcase_add_test(tcase, test_file_removed_under_a_running_agent);
	tcase_add_loop_test(tcase, test_something_else_in_its_place, 0, KINDS);
	tcase_add_test(tcase, test_tally_gone_or_garbage);
	tcase_add_test(tcase, test_tally_half_written);
	tcase_add_test(tcase, test_files_aside_are_bounded);
	tcase_add_test(tcase, test_crash_while_replacing);
	suite_add_tcase(suite, tcase);
	return suite;
}
