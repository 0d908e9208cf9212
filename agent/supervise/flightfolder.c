/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* nftw */
#include "supervise/flightfolder.h"

#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
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

/* Both of its files, or one that was left without the other. */
struct answer {
	char *stem; /* their path, but for its ending */
	struct timespec time;
	uint64_t bytes;
};

/* That without which it is not found comes first. */
static const char *const endings[] = {".jsonl", ".txt"};

static void answer_free(void *data)
{
	struct answer *answer = data;

	g_free(answer->stem);
	g_free(answer);
}

static int compare_times(const struct timespec *one, const struct timespec *other)
{
	if (one->tv_sec != other->tv_sec)
		return one->tv_sec < other->tv_sec ? -1 : 1;
	return one->tv_nsec < other->tv_nsec ? -1 : one->tv_nsec > other->tv_nsec;
}

static gint compare_oldest_first(gconstpointer left, gconstpointer right)
{
	return compare_times(&((const struct answer *)left)->time, &((const struct answer *)right)->time);
}

static struct answer *get_answer(GHashTable *answers, const char *path, const char *ending)
{
	g_autofree char *stem = g_strndup(path, strlen(path) - strlen(ending));
	struct answer *answer = g_hash_table_lookup(answers, stem);

	if (answer)
		return answer;
	answer = g_new0(struct answer, 1);
	answer->stem = g_steal_pointer(&stem);
	g_hash_table_insert(answers, answer->stem, answer);
	return answer;
}

static const char *ending_of(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(endings); i++)
		if (g_str_has_suffix(name, endings[i]))
			return endings[i];
	return NULL;
}

/* It is as old as the file that came last. Returns the file's size. */
static uint64_t add_file(GHashTable *answers, const char *folder, const char *name)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);
	const char *ending = ending_of(name);
	struct answer *answer;
	struct stat status;

	if (!ending || lstat(path, &status) != 0)
		return 0;
	answer = get_answer(answers, path, ending);
	if (compare_times(&answer->time, &status.st_mtim) < 0)
		answer->time = status.st_mtim;
	answer->bytes += (uint64_t)status.st_size;
	return (uint64_t)status.st_size;
}

static uint64_t list_answers(const char *path, GHashTable *answers)
{
	GDir *list = g_dir_open(path, 0, NULL);
	uint64_t bytes = 0;
	const char *name;

	while (list && (name = g_dir_read_name(list)))
		bytes += add_file(answers, path, name);
	if (list)
		g_dir_close(list);
	return bytes;
}

static bool remove_answer(const struct answer *answer)
{
	bool gone = true;

	for (size_t i = 0; i < G_N_ELEMENTS(endings); i++) {
		g_autofree char *path = g_strconcat(answer->stem, endings[i], NULL);

		gone &= remove(path) == 0 || errno == ENOENT;
	}
	return gone;
}

void flight_folder_bound(const char *path, uint64_t bytes)
{
	g_autoptr(GHashTable) answers = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, answer_free);
	uint64_t all = list_answers(path, answers);
	g_autoptr(GList) sorted = g_list_sort(g_hash_table_get_values(answers), compare_oldest_first);

	for (const GList *at = sorted; at && all > bytes; at = at->next) {
		const struct answer *answer = at->data;

		if (remove_answer(answer))
			all -= answer->bytes;
	}
}
