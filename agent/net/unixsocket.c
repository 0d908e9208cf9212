/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/unixsocket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* The flag of a socket in /proc/net/unix that listens. */
#define LISTENS 0x10000

/* Whether some process listens on a socket of this path, also one that this user may not connect to. */
static bool is_listened_on(const char *path)
{
	FILE *sockets = fopen("/proc/self/net/unix", "re");
	char line[512], at[256];
	unsigned flags;
	bool found = false;

	while (sockets && !found && fgets(line, sizeof(line), sockets))
		found = sscanf(line, "%*x: %*x %*x %x %*x %*x %*u %255s", &flags, at) == 2 &&
			flags & LISTENS && strcmp(at, path) == 0;
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

/* A full queue of those who wait to be let in (EAGAIN) is somebody's, too. */
bool unixsocket_answers(const char *path)
{
	struct sockaddr_un address;
	int fd;
	bool does;

	if (!make_address(&address, path))
		return false;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	does = connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0 || errno == EAGAIN;
	if (!does && errno == EACCES)
		does = is_listened_on(path);
	close(fd);
	return does;
}

int unixsocket_bind(const char *path, mode_t mode)
{
	struct sockaddr_un address;
	struct stat file;
	int fd, error;

	if (!make_address(&address, path))
		return -1;
	if (lstat(path, &file) == 0 && S_ISSOCK(file.st_mode)) {
		if (unixsocket_answers(path)) {
			errno = EADDRINUSE;
			return -1;
		}
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
