/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/unixsocket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* Whether some process has a socket of this path, also one that this user may not connect to. */
static bool is_bound(const char *path)
{
	FILE *sockets = fopen("/proc/self/net/unix", "re");
	char line[512], at[256];
	bool found = false;

	while (sockets && !found && fgets(line, sizeof(line), sockets))
		found = sscanf(line, "%*x: %*x %*x %*x %*x %*x %*u %255s", at) == 1 && strcmp(at, path) == 0;
	if (sockets)
		fclose(sockets);
	return found;
}

static bool make_address(struct sockaddr_un *address, const char *path)
{
	*address = (struct sockaddr_un){.sun_family = AF_UNIX};
	if (strlen(path) >= sizeof(address->sun_path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcpy(address->sun_path, path);
	return true;
}

/* 0: nobody has it; EADDRINUSE: somebody has, also if too many wait to be let in, or it is of another type;
 * or why that cannot be known. */
static int look_at(const char *path)
{
	struct sockaddr_un address;
	int fd, error;

	if (!make_address(&address, path))
		return errno;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return errno;
	error = connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 ? EADDRINUSE : errno;
	close(fd);
	if (error == EAGAIN || error == EPROTOTYPE || (error == EACCES && is_bound(path)))
		return EADDRINUSE;
	return error == ECONNREFUSED || error == ENOENT || error == EACCES ? 0 : error;
}

bool unixsocket_answers(const char *path)
{
	return look_at(path) == EADDRINUSE;
}

int unixsocket_bind(const char *path, mode_t mode)
{
	struct sockaddr_un address;
	struct stat file;
	int fd, error;

	if (!make_address(&address, path))
		return -1;
	if (lstat(path, &file) == 0 && S_ISSOCK(file.st_mode)) {
		errno = look_at(path);
		if (errno)
			return -1;
		unlink(path);
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && chmod(path, mode) == 0)
		return fd;
	error = errno;
	if (fd >= 0)
		close(fd);
	errno = error;
	return -1;
}
