/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sessiond.h"

#include <ctype.h>
#include <errno.h>
#include <grp.h>
#include <linux/net.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib.h>

#include "base/group.h"

#define SYSTEM_FOLDER "/var/run/lttng"
#define CLIENT_SOCKET "/client-lttng-sessiond"
#define PROGRAMS_SOCKET "/lttng-ust-sock-"

static bool in_group(const char *name)
{
	int count = getgroups(0, NULL);
	g_autofree gid_t *ids = g_new0(gid_t, (gsize)MAX(count, 0) + 1);
	gid_t group;

	if (!*name || !group_find(name, &group))
		return false;
	count = getgroups(count, ids);
	for (int i = 0; i < count; i++)
		if (ids[i] == group)
			return true;
	return getegid() == group;
}

static char *home_folder(void)
{
	const char *home = getenv("LTTNG_HOME");

	return g_strconcat(home ? home : g_get_home_dir(), "/.lttng", NULL);
}

static enum sessiond_answer try_folder(const char *folder)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), status, error;

	if (fd < 0)
		return SESSIOND_BUSY;
	g_snprintf(address.sun_path, sizeof(address.sun_path), "%s" CLIENT_SOCKET, folder);
	status = connect(fd, (struct sockaddr *)&address, sizeof(address));
	error = errno;
	close(fd);
	if (status == 0)
		return SESSIOND_ANSWERS;
	if (error == EACCES || error == EPERM)
		return SESSIOND_DENIED;
	return error == EAGAIN ? SESSIOND_BUSY : SESSIOND_MISSING;
}

/* Where LTTng's library looks: root and the group's members share the system's daemon, then comes one's own.
 */
static enum sessiond_answer find(const char *tracing_group, char **folder)
{
	enum sessiond_answer system = try_folder(SYSTEM_FOLDER), own;

	if (getuid() == 0 || (in_group(tracing_group) && system == SESSIOND_ANSWERS)) {
		*folder = g_strdup(SYSTEM_FOLDER);
		return system;
	}
	*folder = home_folder();
	own = try_folder(*folder);
	/* the system's, which it was not allowed to reach */
	return own == SESSIOND_MISSING && *tracing_group && system != SESSIOND_MISSING ? SESSIOND_DENIED
										       : own;
}

enum sessiond_answer sessiond_ask(const char *tracing_group)
{
	g_autofree char *folder = NULL;

	return find(tracing_group, &folder);
}

char *sessiond_folder(const char *tracing_group)
{
	char *folder = NULL;

	if (find(tracing_group, &folder) == SESSIOND_ANSWERS)
		return folder;
	g_free(folder);
	return NULL;
}

char *sessiond_group(void)
{
	const struct group *group = NULL;
	struct stat file;

	if (stat(SYSTEM_FOLDER CLIENT_SOCKET, &file) == 0 && file.st_gid != 0)
		group = getgrgid(file.st_gid);
	return group ? g_strdup(group->gr_name) : NULL;
}

/* A line of /proc/net/unix. */
struct socket_line {
	unsigned flags, state;
	char path[256];
};

/* The number at the end of the path of a socket that the daemon has for programs; -1: it is no such socket.
 */
static int interface_of(const struct socket_line *socket, const char *folder)
{
	const char *number = strstr(socket->path, PROGRAMS_SOCKET);

	if (!number || (size_t)(number - socket->path) != strlen(folder) ||
		strncmp(socket->path, folder, strlen(folder)) != 0)
		return -1;
	number += strlen(PROGRAMS_SOCKET);
	return isdigit((unsigned char)*number) && number[strspn(number, "0123456789")] == '\0' ? atoi(number)
											       : -1;
}

/* Calls @visit for each socket in the daemon's folder that programs connect to, and for each connection;
 * false if they cannot be told. */
static bool each_socket(const char *tracing_group,
	void (*visit)(const struct socket_line *socket, int interface, void *data), void *data)
{
	g_autofree char *folder = NULL;
	FILE *sockets = fopen("/proc/net/unix", "re");
	char line[512];

	if (!sockets)
		return false;
	find(tracing_group, &folder);
	while (fgets(line, sizeof(line), sockets)) {
		struct socket_line socket;
		int interface;

		if (sscanf(line, "%*x: %*x %*x %x %*x %x %*u %255s", &socket.flags, &socket.state,
			    socket.path) != 3)
			continue;
		interface = interface_of(&socket, folder);
		if (interface >= 0)
			visit(&socket, interface, data);
	}
	fclose(sockets);
	return true;
}

static void count_connection(const struct socket_line *socket, int interface, void *count)
{
	(void)interface;
	*(int *)count += socket->state == SS_CONNECTED;
}

int sessiond_programs(const char *tracing_group)
{
	int count = 0;

	if (!each_socket(tracing_group, count_connection, &count))
		return -1;
	return count / 2; /* each has one for commands and one to notify */
}

static void note_listener(const struct socket_line *socket, int interface, void *found)
{
	if (socket->flags & __SO_ACCEPTCON)
		*(int *)found = interface;
}

int sessiond_interface(const char *tracing_group)
{
	int found = -1;

	each_socket(tracing_group, note_listener, &found);
	return found;
}
