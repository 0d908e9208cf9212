/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/regularfile.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#define PIECE 65536
/* No such file is larger: it is something else. */
#define SIZE_MAX_READ ((size_t)64 * 1024 * 1024)

int regularfile_open(const char *path, int flags, mode_t mode)
{
	/* a pipe that nobody reads gives ENXIO to who wants to write, and no other call says so of a file */
	int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode), error;
	struct stat file;

	if (fd < 0)
		return -1;
	error = fstat(fd, &file) != 0 ? errno : S_ISREG(file.st_mode) ? 0 : ENXIO;
	if (!error)
		return fd;
	close(fd);
	errno = error;
	return -1;
}

int regularfile_read_first(const char *path, size_t most, struct buffer *text)
{
	int fd = regularfile_open(path, O_RDONLY, 0), error = 0;
	ssize_t size = 1;

	if (fd < 0)
		return -1;
	while (size != 0 && most && !error) {
		size_t piece = most < PIECE ? most : PIECE;

		size = read(fd, buffer_reserve(text, piece), piece);
		if (size > 0) {
			text->size += (size_t)size;
			most -= (size_t)size;
		} else if (size < 0 && errno != EINTR) {
			error = errno;
		}
	}
	close(fd);
	errno = error;
	return error ? -1 : 0;
}

int regularfile_read(const char *path, struct buffer *text)
{
	size_t before = text->size;

	if (regularfile_read_first(path, SIZE_MAX_READ + 1, text) != 0)
		return -1;
	if (text->size - before <= SIZE_MAX_READ)
		return 0;
	errno = EFBIG;
	return -1;
}

const char *regularfile_error(int error)
{
	return error == ENXIO   ? "it is no regular file, but a pipe or the like: remove it"
	       : error == ELOOP ? "it is a symbolic link: remove it"
				: g_strerror(error);
}
