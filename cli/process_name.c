/* SPDX-License-Identifier: BSD-2-Clause */
#include "process_name.h"

#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include <glib.h>

#include "base/sanitize.h"

/* The name of LTTng's thread in a traced program is that of the program, followed by this. */
#define THREAD_SUFFIX "-ust\n"

void process_name(char *text, size_t size, int pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/comm", pid), *name = NULL, *whole = NULL;

	if (!g_file_get_contents(path, &name, NULL, NULL))
		name = g_strdup("process");
	whole = g_strdup_printf("%s (%d)", g_strchomp(name), pid);
	words_copy(text, size, (const uint8_t *)whole, strlen(whole));
}

uid_t process_user(int pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d", pid);
	struct stat is;

	return stat(path, &is) == 0 ? is.st_uid : (uid_t)-1;
}

bool process_is_traced(int pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/task", pid);
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *thread;
	bool is = false;

	while (dir && !is && (thread = g_dir_read_name(dir))) {
		g_autofree char *comm = g_strdup_printf("%s/%s/comm", path, thread), *name = NULL;

		is = g_file_get_contents(comm, &name, NULL, NULL) && g_str_has_suffix(name, THREAD_SUFFIX);
	}
	return is;
}
