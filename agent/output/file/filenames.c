/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "output/file/filenames.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char *const words[FILELINES] = {[FILELINES_ZIPKIN] = "zipkin",
	[FILELINES_OTLP] = "otlp",
	[FILELINES_EVENTS] = "events",
	[FILELINES_MESSAGES] = "messages"};

enum kind filelines_kind(enum filelines_are lines)
{
	return lines == FILELINES_EVENTS     ? KIND_EVENTS
	       : lines == FILELINES_MESSAGES ? KIND_MESSAGES
					     : KIND_SPANS;
}

void filename_print(const struct filename *name, char text[FILENAMES_SIZE])
{
	time_t begun = (time_t)name->begun;
	struct tm utc;
	char when[32];

	gmtime_r(&begun, &utc);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%SZ", &utc);
	snprintf(text, FILENAMES_SIZE, "%s%s-%s-%u.jsonl%s", name->part ? "." : "", words[name->lines], when,
		name->number, name->part ? ".part" : "");
}

/* What is printed again as it was is one of ours. */
bool filename_parse(const char *text, struct filename *name)
{
	char again[FILENAMES_SIZE];
	struct tm utc = {0};
	const char *rest;
	int lines = 0;

	name->part = *text == '.';
	text += name->part;
	while (lines < FILELINES - 1 && !g_str_has_prefix(text, words[lines]))
		lines++;
	name->lines = lines;
	text -= name->part;
	if (!g_str_has_prefix(text + name->part, words[lines]))
		return false;
	rest = strptime(text + name->part + strlen(words[lines]), "-%Y%m%dT%H%M%SZ-", &utc);
	if (!rest || sscanf(rest, "%9u", &name->number) != 1)
		return false;
	name->begun = timegm(&utc);
	filename_print(name, again);
	return strcmp(text, again) == 0;
}

static gint by_age(gconstpointer a, gconstpointer b)
{
	const struct filename *one = &((const struct filename_found *)a)->name,
			      *other = &((const struct filename_found *)b)->name;

	if (one->begun != other->begun)
		return one->begun < other->begun ? -1 : 1;
	return one->number < other->number ? -1 : one->number > other->number;
}

GArray *filenames_list(int folder, enum kind kind, bool part)
{
	int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *entry;
	GArray *found;

	if (!dir)
		return NULL;
	found = g_array_new(FALSE, FALSE, sizeof(struct filename_found));
	while ((entry = readdir(dir))) {
		struct filename_found one;
		struct stat file;

		if (!filename_parse(entry->d_name, &one.name) || one.name.part != part ||
			filelines_kind(one.name.lines) != kind ||
			fstatat(folder, entry->d_name, &file, AT_SYMLINK_NOFOLLOW) != 0 ||
			!S_ISREG(file.st_mode))
			continue;
		one.size = file.st_size;
		g_array_append_val(found, one);
	}
	closedir(dir);
	g_array_sort(found, by_age);
	return found;
}
