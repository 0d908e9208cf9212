/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/secret.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

/* Returns 0, or what is wrong as an errno. It must not be a pipe, which may have no end. */
static int read_line(const char *path, char secret[SECRET_MAX])
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK), error;
	ssize_t size = fd < 0 ? -1 : read(fd, secret, SECRET_MAX);

	error = errno;
	if (fd >= 0)
		close(fd);
	if (size < 0)
		return error;
	if (size == SECRET_MAX)
		return EFBIG;
	secret[size] = '\0';
	secret[strcspn(secret, "\r\n")] = '\0';
	return *secret ? 0 : ENODATA;
}

bool secret_read(const char *path, char secret[SECRET_MAX], char *why, size_t size)
{
	int error = read_line(path, secret);

	if (error)
		snprintf(why, size, "the password in `%s` cannot be read: %s", path,
			error == ENODATA ? "its first line is empty" : g_strerror(error));
	return !error;
}
