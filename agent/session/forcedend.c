/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/forcedend.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

/* The children of one of its threads, as the kernel lists them. */
static void kill_children(pid_t pid, const char *thread)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/task/%s/children", (int)pid, thread), *list = NULL;
	g_auto(GStrv) words = NULL;

	if (!g_file_get_contents(path, &list, NULL, NULL))
		return;
	words = g_strsplit_set(list, " \n", -1);
	for (char **word = words; *word; word++)
		if (**word)
			kill((pid_t)atoi(*word), SIGKILL);
}

void forced_end(pid_t pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/task", (int)pid);
	GDir *threads = g_dir_open(path, 0, NULL);
	const char *thread;

	kill(pid, SIGSTOP); /* it starts no others meanwhile */
	while (threads && (thread = g_dir_read_name(threads)))
		kill_children(pid, thread);
	if (threads)
		g_dir_close(threads);
	kill(pid, SIGKILL);
}
