/* SPDX-License-Identifier: BSD-2-Clause */
#include "spool_harm.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "output/spool/spoolfile.h"
#include "spool_rig.h"

#define MIB (1024 * 1024)

char *harm_good, *harm_bad;

void harm_setup(void)
{
	rig_clear();
	harm_good = rig_path(rig_folder, "good");
	harm_bad = rig_path(rig_folder, "bad");
	g_mkdir(harm_good, 0700);
	g_mkdir(harm_bad, 0700);
}

void harm_teardown(void)
{
	g_free(harm_good);
	g_free(harm_bad);
}

char *harm_path(const char *folder, const char *suffix)
{
	return g_strconcat(folder, "/" RIG_SPOOL, suffix, NULL);
}

void harm_copy(void)
{
	static const char *const names[] = {"", "-wal"};

	for (int i = 0; i < 2; i++) {
		g_autofree char *from = harm_path(harm_good, names[i]), *to = harm_path(harm_bad, names[i]);

		rig_copy(from, to);
	}
	g_autofree char *shm = harm_path(harm_bad, "-shm"), *from = rig_path(harm_good, RIG_TALLY),
			*to = rig_path(harm_bad, RIG_TALLY);

	g_remove(shm);
	rig_copy(from, to);
}

unsigned harm_count_aside(void)
{
	GDir *dir = g_dir_open(harm_bad, 0, NULL);
	unsigned count = 0;
	const char *name;

	while ((name = g_dir_read_name(dir)))
		count += strstr(name, ".aside-") && !g_str_has_suffix(name, "-wal");
	g_dir_close(dir);
	return count;
}

void harm_remove_aside(void)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(harm_bad, 0, NULL);
	const char *name;

	while ((name = g_dir_read_name(dir)))
		if (strstr(name, ".aside-"))
			g_ptr_array_add(names, rig_path(harm_bad, name));
	g_dir_close(dir);
	for (guint i = 0; i < names->len; i++)
		g_remove(names->pdata[i]);
}

void harm_assert_survivors(int64_t total, int64_t survivors, const char *what, int64_t where)
{
	struct spool *spool = rig_open(harm_bad, 16 * MIB);
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

void harm_fill(void)
{
	struct spool *spool = rig_open(harm_good, 16 * MIB);

	for (int i = 0; i < BATCHES; i++)
		rig_fill(spool, i * SPANS, 1, SPANS, 300 + (size_t)(i * 977 % 1500));
	spool_destroy(spool);
}

void harm_flip(const char *path, size_t at, uint8_t bits)
{
	int fd = open(path, O_RDWR);
	uint8_t byte;

	ck_assert_int_eq(pread(fd, &byte, 1, (off_t)at), 1);
	byte ^= bits;
	ck_assert_int_eq(pwrite(fd, &byte, 1, (off_t)at), 1);
	close(fd);
}
