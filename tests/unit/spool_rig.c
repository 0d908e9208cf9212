/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "spool_rig.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include <glib/gstdio.h>

char *rig_folder;

static bool write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return good;
}

/* Without the right to: in a user namespace, if the system has them. */
bool rig_own_mounts(void)
{
	char map[64], groups[64];
	uid_t user = getuid();
	gid_t group = getgid();

	if (unshare(CLONE_NEWNS) == 0)
		return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
		return false;
	snprintf(map, sizeof(map), "0 %u 1", (unsigned)user);
	snprintf(groups, sizeof(groups), "0 %u 1", (unsigned)group);
	return write_text("/proc/self/uid_map", map) && write_text("/proc/self/setgroups", "deny") &&
	       write_text("/proc/self/gid_map", groups) &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

bool rig_mount_disk(const char *options)
{
	if (rig_own_mounts() && mount("tmpfs", rig_folder, "tmpfs", 0, options) == 0)
		return true;
	fprintf(stderr, "spool: this system allows no mounts of one's own: %s\n", g_strerror(errno));
	return false;
}

void rig_fill_disk(const char *path)
{
	static char block[4096];
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);

	ck_assert_int_ge(fd, 0);
	while (write(fd, block, sizeof(block)) > 0)
		;
	ck_assert_int_eq(errno, ENOSPC);
	close(fd);
}

void rig_make_folder(void)
{
	if (rig_own_mounts() && mount("tmpfs", "/dev/shm", "tmpfs", 0, NULL) != 0)
		fprintf(stderr, "spool: no disk of one's own: a test that is killed leaves its folder\n");
	rig_folder = g_strdup("/dev/shm/blkin-spool-XXXXXX");
	if (g_mkdtemp(rig_folder))
		return;
	g_free(rig_folder);
	rig_folder = g_dir_make_tmp("blkin-spool-XXXXXX", NULL);
	ck_assert_ptr_nonnull(rig_folder);
}

static void remove_all(const char *folder)
{
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);

		if (g_file_test(path, G_FILE_TEST_IS_DIR) && !g_file_test(path, G_FILE_TEST_IS_SYMLINK))
			remove_all(path);
		g_remove(path);
	}
	if (dir)
		g_dir_close(dir);
}

void rig_clear(void)
{
	remove_all(rig_folder);
}

void rig_remove_folder(void)
{
	rig_clear();
	g_rmdir(rig_folder);
	g_clear_pointer(&rig_folder, g_free);
}

char *rig_path(const char *folder, const char *name)
{
	return g_build_filename(folder, name, NULL);
}

void rig_copy(const char *from, const char *to)
{
	gsize size;
	char *data;

	if (!g_file_get_contents(from, &data, &size, NULL)) {
		g_remove(to);
		return;
	}
	ck_assert(g_file_set_contents_full(to, data, (gssize)size, G_FILE_SET_CONTENTS_NONE, 0600, NULL));
	g_free(data);
}

/* A span's bytes follow from its number. */
static size_t span_size(int64_t number, size_t size)
{
	return size + (size_t)(number % 7);
}

static void make_span(uint8_t *span, int64_t number, size_t size)
{
	memcpy(span, &number, sizeof(number));
	for (size_t i = sizeof(number); i < size; i++)
		span[i] = (uint8_t)(number * 31 + (int64_t)i * 7);
}

struct entry *rig_entry(int64_t first, uint32_t count, size_t size)
{
	struct batch *batch = batch_create(BATCH_SPAN_RECORDS, count, count * (size + 6));
	g_autofree uint8_t *span = g_malloc(size + 6);

	for (uint32_t i = 0; i < count; i++) {
		int64_t number = first + i;
		size_t bytes = span_size(number, size);

		make_span(span, number, bytes);
		batch_add(batch, span, bytes, number);
	}
	return entry_create(batch);
}

struct spool_options rig_options(const char *folder, uint64_t max)
{
	return (struct spool_options){.directory = folder, .name = "default", .max_bytes = max};
}

struct spool *rig_open(const char *folder, uint64_t max)
{
	struct spool_options options = rig_options(folder, max);
	struct spool *spool = spool_create(&options);

	ck_assert_msg(spool_open(spool), "%s", spool_error(spool));
	return spool;
}

void rig_fill(struct spool *spool, int64_t first, unsigned batches, uint32_t count, size_t size)
{
	for (unsigned i = 0; i < batches; i++) {
		struct entry *entry = rig_entry(first + (int64_t)i * count, count, size);

		ck_assert_msg(spool_put(spool, entry), "%s", spool_error(spool));
		entry_destroy(entry);
	}
}

static void check_batch(const struct batch *batch, GHashTable *seen)
{
	const uint8_t *span = batch->spans.data;
	static uint8_t expected[1 << 20];

	for (uint32_t i = 0; i < batch->count; span += batch_sizes(batch)[i++]) {
		int64_t number = batch_events(batch)[i];

		make_span(expected, number, batch_sizes(batch)[i]);
		ck_assert_mem_eq(span, expected, batch_sizes(batch)[i]);
		if (seen)
			ck_assert(g_hash_table_add(seen, g_memdup2(&number, sizeof(number))));
	}
	ck_assert_ptr_eq(span, batch->spans.data + batch->spans.size);
}

enum spool_read rig_next(struct spool *spool, struct entry **entry)
{
	struct entry *next = NULL;
	enum spool_read status = spool_read(spool, *entry ? (*entry)->spool_id : 0, &next);

	if (status == SPOOL_READ) {
		entry_destroy(*entry);
		*entry = next;
	} else {
		ck_assert_ptr_null(next);
	}
	return status;
}

int64_t rig_drain(struct spool *spool, GHashTable *seen)
{
	struct entry *entry = NULL;
	enum spool_read status;
	int64_t spans = 0, after = 0;

	while ((status = rig_next(spool, &entry)) == SPOOL_READ) {
		ck_assert_int_gt(entry->spool_id, after);
		after = entry->spool_id;
		check_batch(entry->batch, seen);
		spans += entry->batch->count;
		ck_assert_msg(spool_delete(spool, &after, 1), "%s", spool_error(spool));
	}
	ck_assert_msg(status == SPOOL_END, "%s", spool_error(spool));
	entry_destroy(entry);
	return spans;
}

int64_t rig_corrupt(struct spool *spool)
{
	struct spool_losses losses;

	spool_take_losses(spool, &losses);
	return losses.corrupt;
}

size_t rig_stride(size_t step)
{
	static GRand *random;
	const char *damage = g_getenv("BLKIN_DAMAGE");

	if (damage && strcmp(damage, "all") == 0)
		return step;
	if (!random)
		random = g_rand_new_with_seed(20);
	return step * (size_t)g_rand_int_range(random, 1, 40);
}
