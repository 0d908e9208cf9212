/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* nftw */
#include "supervise/flightfolder.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#define SNAPSHOT "snapshot"
#define COPIES "copies"
#define PART ".part"
#define MODE 0750
#define DESCRIPTORS 16

int flight_folder_make(const char *path)
{
	g_autofree char *copies = g_build_filename(path, COPIES, NULL);

	return g_mkdir_with_parents(copies, MODE) == 0 ? 0 : errno;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
	(void)status;
	(void)kind;
	(void)walk;
	remove(path);
	return 0;
}

static bool is_answer(const char *name)
{
	return g_str_has_suffix(name, ".jsonl") || g_str_has_suffix(name, ".txt");
}

/* What is nobody's here is left alone: the folder may be a link to one that has more in it. */
static bool is_unfinished(const char *name)
{
	return g_str_equal(name, SNAPSHOT) || g_str_equal(name, COPIES) || g_str_has_suffix(name, PART);
}

void flight_folder_clean(const char *path)
{
	GDir *list = g_dir_open(path, 0, NULL);
	const char *name;

	while (list && (name = g_dir_read_name(list))) {
		g_autofree char *entry = g_build_filename(path, name, NULL);

		if (is_unfinished(name))
			nftw(entry, remove_entry, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
	}
	if (list)
		g_dir_close(list);
}

bool flight_folder_has(const char *path, uint64_t trace_id)
{
	g_autofree char *answer = g_strdup_printf("%s/%016" PRIx64 ".jsonl", path, trace_id);

	return access(answer, F_OK) == 0;
}

struct answer {
	char *path;
	struct timespec time;
	uint64_t bytes;
};

static void answer_clear(void *data)
{
	g_free(((struct answer *)data)->path);
}

static gint compare_oldest_first(gconstpointer left, gconstpointer right)
{
	const struct timespec *one = &((const struct answer *)left)->time,
			      *other = &((const struct answer *)right)->time;

	if (one->tv_sec != other->tv_sec)
		return one->tv_sec < other->tv_sec ? -1 : 1;
	return one->tv_nsec < other->tv_nsec ? -1 : one->tv_nsec > other->tv_nsec;
}

static uint64_t list_answers(const char *path, GArray *answers)
{
	GDir *list = g_dir_open(path, 0, NULL);
	uint64_t bytes = 0;
	const char *name;

	while (list && (name = g_dir_read_name(list))) {
		struct answer answer = {.path = g_build_filename(path, name, NULL)};
		struct stat status;

		if (!is_answer(name) || lstat(answer.path, &status) != 0) {
			g_free(answer.path);
			continue;
		}
		answer.time = status.st_mtim;
		answer.bytes = (uint64_t)status.st_size;
		bytes += answer.bytes;
		g_array_append_val(answers, answer);
	}
	if (list)
		g_dir_close(list);
	return bytes;
}

void flight_folder_bound(const char *path, uint64_t bytes)
{
	g_autoptr(GArray) answers = g_array_new(FALSE, FALSE, sizeof(struct answer));
	uint64_t all;

	g_array_set_clear_func(answers, answer_clear);
	all = list_answers(path, answers);
	g_array_sort(answers, compare_oldest_first);
	for (guint i = 0; i < answers->len && all > bytes; i++) {
		const struct answer *answer = &g_array_index(answers, struct answer, i);

		if (remove(answer->path) == 0)
			all -= answer->bytes;
	}
}
