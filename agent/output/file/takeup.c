/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "output/file/takeup.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "output/file/filenames.h"
#include "output/file/partfile.h"

#define PATIENCE_NS (NS_PER_SECOND / 2)
#define TRY_AGAIN_NS (10 * NS_PER_MS)

/* Another agent has it, or a child that the killed one had just forked, which lets go as it becomes another
 * program. @patience: ns that are left to find out, for all files together. */
static int take(
	struct partfile *part, int folder, const struct filename *name, int64_t *cut, int64_t *patience)
{
	int error;

	while ((error = partfile_take(part, folder, name, cut)) == EWOULDBLOCK && *patience > 0) {
		g_usleep(TRY_AGAIN_NS / 1000);
		*patience -= TRY_AGAIN_NS;
	}
	return error;
}

static int finish(int folder, const struct filename *name, struct takeup *found,
	const struct takeup_record *record, int64_t *patience)
{
	struct partfile part;
	int64_t cut = 0;
	int error = take(&part, folder, name, &cut, patience);

	if (error == EWOULDBLOCK || error == ENOENT)
		return 0;
	if (error)
		return error;
	found->left = true;
	found->cut += cut;
	found->files += part.size > 0;
	written_find(record->written, &part, record->known);
	error = partfile_finish(&part);
	if (!error)
		written_end(record->written, &part, part.size);
	partfile_close(&part);
	return error;
}

static int finish_all(int folder, enum kind kind, struct takeup *found, const struct takeup_record *record)
{
	GArray *parts = filenames_list(folder, kind, true);
	int64_t patience = PATIENCE_NS;
	int error = 0;

	if (!parts)
		return errno;
	for (guint i = 0; i < parts->len && !error; i++) {
		const struct filename *name = &g_array_index(parts, struct filename_found, i).name;

		if (name->begun != record->own->begun || name->number != record->own->number)
			error = finish(folder, name, found, record, &patience);
	}
	g_array_unref(parts);
	return error;
}

/* The lines of the last @bytes. */
static int read_back(int folder, const struct filename_found *found, int64_t bytes, struct known *known)
{
	char name[FILENAMES_SIZE], *line = NULL;
	ssize_t size;
	size_t room = 0;
	FILE *file;
	int fd, error = 0;

	filename_print(&found->name, name);
	fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	file = fd < 0 ? NULL : fdopen(fd, "r");
	if (!file)
		return errno == ENOENT ? 0 : errno; /* a consumer may remove it at any time */
	if (found->size > bytes &&
		(fseeko(file, found->size - bytes, SEEK_SET) != 0 || getline(&line, &room, file) < 0))
		error = errno;
	while (!error && (size = getline(&line, &room, file)) > 0)
		if (line[size - 1] == '\n')
			known_add(known, known_hash((const uint8_t *)line, (size_t)size - 1));
	if (ferror(file))
		error = EIO;
	free(line);
	fclose(file);
	return error;
}

static int read_back_newest(int folder, enum kind kind, struct known *known)
{
	GArray *files = filenames_list(folder, kind, false);
	int64_t left = TAKEUP_BYTES;
	int error = 0;

	if (!files)
		return errno;
	for (guint i = files->len; i > 0 && left > 0 && !error; i--) {
		const struct filename_found *file = &g_array_index(files, struct filename_found, i - 1);

		error = read_back(folder, file, left, known);
		left -= file->size;
	}
	g_array_unref(files);
	known_sort(known);
	return error;
}

/* Whoever ends well leaves no unfinished file, and has everything on record. */
int takeup(int folder, enum kind kind, struct known *known, struct takeup *found,
	const struct takeup_record *record)
{
	int error = finish_all(folder, kind, found, record);

	if (error || !found->left)
		return error;
	known_begin(known);
	return read_back_newest(folder, kind, known);
}
