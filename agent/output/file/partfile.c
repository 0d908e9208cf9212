/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "output/file/partfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK 65536

/* Opens the part; EEXIST if it cannot be ours. */
static int open_new(struct partfile *part, int folder, const struct filename *name)
{
	struct filename finished = *name;
	char text[FILENAMES_SIZE];
	struct stat file;
	int error = 0;

	finished.part = false;
	filename_print(&finished, text);
	if (faccessat(folder, text, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	filename_print(name, text);
	part->fd = openat(folder, text, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0640);
	if (part->fd < 0)
		return errno;
	part->folder = folder;
	part->name = *name;
	part->inode = fstat(part->fd, &file) == 0 ? file.st_ino : 0;
	/* between these two calls, whoever takes up what was left behind may have had it */
	if (flock(part->fd, LOCK_EX | LOCK_NB) != 0)
		error = errno == EWOULDBLOCK ? EEXIST : errno;
	else if (partfile_is_gone(part))
		error = EEXIST;
	if (error)
		partfile_close(part);
	return error;
}

int partfile_create(struct partfile *part, int folder, int64_t now)
{
	struct filename name = {.begun = now, .part = true, .lines = part->name.lines};
	int error;

	if (part->name.begun == now)
		name.number = part->name.number;

	do {
		name.number++;
		error = open_new(part, folder, &name);
	} while (error == EEXIST);
	part->size = 0;
	part->lines = 0;
	part->torn = false;
	return error;
}

/* Where the last whole line ends. */
static int find_end(int fd, int64_t size, int64_t *end)
{
	char block[BLOCK];

	for (*end = size; *end > 0;) {
		int64_t at = MAX(*end - BLOCK, 0);
		ssize_t got = pread(fd, block, (size_t)(*end - at), at);
		const char *last;

		if (got != *end - at)
			return got < 0 ? errno : EIO;
		last = memrchr(block, '\n', (size_t)got);
		if (last) {
			*end = at + (last - block) + 1;
			return 0;
		}
		*end = at;
	}
	return 0;
}

static int cut_end(struct partfile *part, int64_t *cut)
{
	struct stat file;
	int error;

	if (flock(part->fd, LOCK_EX | LOCK_NB) != 0 || fstat(part->fd, &file) != 0)
		return errno;
	if (!file.st_nlink)
		return ENOENT;
	part->inode = file.st_ino;
	error = find_end(part->fd, file.st_size, &part->size);
	if (error)
		return error;
	*cut = file.st_size - part->size;
	return *cut && ftruncate(part->fd, part->size) != 0 ? errno : 0;
}

int partfile_take(struct partfile *part, int folder, const struct filename *name, int64_t *cut)
{
	char text[FILENAMES_SIZE];
	int error;

	*part = (struct partfile){.folder = folder, .name = *name};
	filename_print(name, text);
	part->fd = openat(folder, text, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (part->fd < 0)
		return errno;
	error = cut_end(part, cut);
	if (error)
		partfile_close(part);
	return error;
}

/* At its end: of a file that somebody cuts meanwhile, no part is left out, and its size tells of the cut. */
static int write_all(int fd, const char *bytes, size_t size)
{
	while (size) {
		ssize_t done = write(fd, bytes, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return errno;
		bytes += done;
		size -= (size_t)done;
	}
	return 0;
}

/* Cuts off what was not written well. */
static int mend(struct partfile *part)
{
	if (part->torn && ftruncate(part->fd, part->size) != 0)
		return errno;
	part->torn = false;
	return 0;
}

/* Whether the file is longer than @size: somebody else writes into it. */
static bool is_longer(const struct partfile *part, int64_t size)
{
	struct stat file;

	return fstat(part->fd, &file) == 0 && file.st_size > size;
}

int partfile_append(struct partfile *part, const void *bytes, size_t size, uint32_t lines, bool sync)
{
	int error;

	part->torn |= is_longer(part, part->size);
	error = mend(part);
	if (error)
		return error;
	error = write_all(part->fd, bytes, size);
	if (!error && is_longer(part, part->size + (int64_t)size))
		error = EBUSY;
	if (!error && sync && fdatasync(part->fd) != 0)
		error = errno;
	if (!error) {
		part->size += (int64_t)size;
		part->lines += lines;
		return 0;
	}
	part->torn = true;
	mend(part);
	return error;
}

/* A folder that does not answer says nothing about its files. */
static bool is_named(int folder, const char *name, const struct stat *file)
{
	struct stat named;

	if (fstatat(folder, name, &named, AT_SYMLINK_NOFOLLOW) != 0)
		return errno != ENOENT;
	return named.st_ino == file->st_ino && named.st_dev == file->st_dev;
}

bool partfile_is_gone(const struct partfile *part)
{
	char text[FILENAMES_SIZE];
	struct stat open;

	filename_print(&part->name, text);
	return fstat(part->fd, &open) == 0 && (!open.st_nlink || !is_named(part->folder, text, &open));
}

int64_t partfile_count_lines(const struct partfile *part, int64_t from, int64_t to)
{
	char block[BLOCK];
	int64_t lines = 0;
	ssize_t got = 1;

	for (; from < to && got > 0; from += got) {
		got = pread(part->fd, block, (size_t)MIN(BLOCK, to - from), from);
		for (ssize_t i = 0; i < got; i++)
			lines += block[i] == '\n';
	}
	return lines;
}

int64_t partfile_find_cut(struct partfile *part)
{
	struct stat file;
	int64_t end, missing;

	if (fstat(part->fd, &file) != 0 || file.st_size >= part->size ||
		find_end(part->fd, file.st_size, &end))
		return 0;
	missing = MAX(part->lines - partfile_count_lines(part, 0, end), 0);
	part->lines -= missing;
	part->size = end;
	part->torn = true;
	return missing;
}

/* Not all file systems can refuse to replace a file. */
static int rename_new(int folder, const char *from, const char *to)
{
	if (renameat2(folder, from, folder, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return errno;
	if (faccessat(folder, to, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
		return EEXIST;
	return renameat(folder, from, folder, to) == 0 ? 0 : errno;
}

static int rename_finished(const struct partfile *part)
{
	struct filename name = part->name;
	char from[FILENAMES_SIZE], to[FILENAMES_SIZE];
	int error;

	filename_print(&name, from);
	name.part = false;
	do {
		filename_print(&name, to);
		error = rename_new(part->folder, from, to);
		name.number++;
	} while (error == EEXIST);
	return error;
}

int partfile_finish(struct partfile *part)
{
	char text[FILENAMES_SIZE];
	int error = mend(part);

	if (error)
		return error;
	if (!part->size) {
		filename_print(&part->name, text);
		error = unlinkat(part->folder, text, 0) == 0 ? 0 : errno;
	} else if (fsync(part->fd) != 0) {
		error = errno;
	} else {
		error = rename_finished(part);
		/* it has its name: that this is not on disk yet changes nothing for anybody who reads it now
		 */
		if (!error)
			fsync(part->folder);
	}
	if (!error)
		partfile_close(part);
	return error;
}

void partfile_close(struct partfile *part)
{
	if (part->fd >= 0)
		close(part->fd);
	part->fd = -1;
}
