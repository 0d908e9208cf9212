/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/controlsocket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/log.h"

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

/* A socket file that nobody answers on is a dead agent's: it may go. */
static bool answers(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool does = connect(fd, (const struct sockaddr *)address, sizeof(*address)) == 0;

	if (!does && errno == EACCES)
		does = is_listened_on(address->sun_path);
	close(fd);
	return does;
}

bool controlsocket_is_free(const struct config *config)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (!*config->socket || strlen(config->socket) >= sizeof(address.sun_path))
		return true;
	strcpy(address.sun_path, config->socket);
	if (!answers(&address))
		return true;
	log_error("another blkin-agent runs already: it has the control socket %s; stop it first, or give "
		  "this one another `socket`, and another `state-directory`, in [agent]",
		config->socket);
	return false;
}

/* Whether only another configuration helps. */
static bool lasts(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES || error == EPERM || error == EROFS ||
	       error == ENAMETOOLONG;
}

int controlsocket_bind(const char *path, bool *hopeless)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct stat file;
	int fd;

	if (strlen(path) >= sizeof(address.sun_path)) {
		log_error("the path of the control socket, %s, is too long (`socket` in [agent])", path);
		*hopeless = true;
		return -1;
	}
	strcpy(address.sun_path, path);
	if (lstat(path, &file) == 0 && S_ISSOCK(file.st_mode)) {
		if (answers(&address)) {
			log_error("another blkin-agent has just taken the control socket %s: stop it first",
				path);
			return -1;
		}
		unlink(path);
	}
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd >= 0 && bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 && chmod(path, 0660) == 0)
		return fd;
	*hopeless = lasts(errno);
	log_error("cannot make the control socket %s: %s (`socket` in [agent])", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}
