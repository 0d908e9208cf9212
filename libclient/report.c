/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "report.h"

#include <dirent.h>
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <blkin/record.h>

#include "sampling.h"

#define SAMPLING_SIZE 128
/* How the names of the sockets end at which LTTng's session daemons register programs; a version follows. */
#define REGISTRATION "/lttng-ust-sock-"

extern const struct blkin_provider blkin_provider_1;

struct daemons {
	bool roots, users;
};

/* Notes whose daemon the socket leads to, if it is one of LTTng's. */
static void note_peer(struct daemons *daemons, int fd)
{
	struct sockaddr_un peer = {0};
	socklen_t size = sizeof(peer) - 1; /* so that the path ends */

	if (getpeername(fd, (struct sockaddr *)&peer, &size) != 0 || peer.sun_family != AF_UNIX ||
		!strstr(peer.sun_path, REGISTRATION))
		return;
	if (!strncmp(peer.sun_path, "/var/run/", 9) || !strncmp(peer.sun_path, "/run/lttng/", 11))
		daemons->roots = true;
	else
		daemons->users = true;
}

/*
 * Whose daemons have this process: LTTng has connected to them when it was loaded. A connection of our own
 * would be a program more for them.
 */
static struct daemons find_daemons(void)
{
	struct daemons daemons = {false, false};
	DIR *folder = opendir("/proc/self/fd");
	struct dirent *entry;

	if (!folder)
		return daemons;
	while ((entry = readdir(folder)))
		if (entry->d_name[0] != '.')
			note_peer(&daemons, atoi(entry->d_name));
	closedir(folder);
	return daemons;
}

static const char *daemon_words(struct daemons daemons)
{
	if (daemons.roots)
		return daemons.users ? "root's and the user's" : "root's";
	return daemons.users ? "the user's" : "none";
}

/* What the sessions record: the lowest severity of spans is that of the last tracepoint that is on. */
static const char *session_words(void)
{
	static const char *const words[BLKIN_LEVELS_] = {"records spans of level emerg only",
		"records spans of level alert and above", "records spans of level crit and above",
		"records spans of level err and above", "records spans of level warning and above",
		"records spans of level notice and above", "records", "records"};

	for (int level = BLKIN_LEVELS_ - 1; level >= 0; level--)
		if (*blkin_provider_1.span_on[level])
			return words[level];
	if (*blkin_provider_1.timestamp_on || *blkin_provider_1.keyval_string_on ||
		*blkin_provider_1.keyval_integer_on)
		return "records classic annotations only";
	return "none records yet";
}

void report_print(void)
{
	static int printed;
	char line[REPORT_SIZE], sampling[SAMPLING_SIZE];
	Dl_info library = {0};
	int size;

	if (__atomic_exchange_n(&printed, 1, __ATOMIC_RELAXED))
		return;
	dladdr(&blkin_provider_1, &library);
	sampling_describe(sampling, sizeof(sampling));
	size = snprintf(line, sizeof(line),
		"blkin: provider: %s, %.512s; session daemon: %s; session: %s; sampling: %s\n", BLKIN_VERSION,
		library.dli_fname ? library.dli_fname : "?", daemon_words(find_daemons()), session_words(),
		sampling);
	/* in one piece, as other processes may print too; there is nobody to tell that it failed */
	if (size > 0 && write(STDERR_FILENO, line, (size_t)size) != size)
		return;
}
