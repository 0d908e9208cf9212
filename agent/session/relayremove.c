/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/relayremove.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/relayfolder.h"

/* Removes the regular files in a folder, which is closed. */
static void remove_files(int folder)
{
	int listed = folder >= 0 ? dup(folder) : -1;
	g_autoptr(GPtrArray) names = relay_list_folder(listed);

	for (guint i = 0; names && i < names->len; i++) {
		struct stat stat;
		const char *name = g_ptr_array_index(names, i);

		if (fstatat(folder, name, &stat, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(stat.st_mode))
			unlinkat(folder, name, 0);
	}
	if (folder >= 0)
		close(folder);
}

static void remove_trace(void *data, const struct stream_key *key)
{
	struct relayfiles *files = data;
	const bool kernel = key->bits == KERNEL_BITS;
	g_autofree char *user =
		kernel ? g_strdup(".") : g_strdup_printf("ust/uid/%" G_GUINT64_FORMAT, key->user);
	g_autofree char *last =
		kernel ? g_strdup("kernel") : g_strdup_printf("%" G_GUINT32_FORMAT "-bit", key->bits);
	int trace = relayfiles_open_trace(files, key, NULL), parent = relay_open_folder(files->folder, user);

	if (trace >= 0) {
		remove_files(openat(trace, "index", FOLDER_FLAGS));
		unlinkat(trace, "index", AT_REMOVEDIR);
	}
	remove_files(trace);
	if (parent >= 0) {
		unlinkat(parent, last, AT_REMOVEDIR);
		close(parent);
	}
}

/* Also of users whose traces are gone already: an earlier agent may have been killed meanwhile. */
static void remove_users(struct relayfiles *files)
{
	int folder = relay_open_folder(files->folder, "ust/uid");
	g_autoptr(GPtrArray) users = relay_list_folder(folder >= 0 ? dup(folder) : -1);
	uint64_t user;

	for (guint i = 0; users && i < users->len; i++)
		if (g_ascii_string_to_unsigned(g_ptr_array_index(users, i), 10, 0, UINT64_MAX, &user, NULL))
			unlinkat(folder, g_ptr_array_index(users, i), AT_REMOVEDIR);
	if (folder >= 0)
		close(folder);
}

bool relay_remove(struct relayfiles *files)
{
	relayfiles_each_trace(files, remove_trace, files);
	remove_users(files);
	unlinkat(files->folder, "ust/uid", AT_REMOVEDIR);
	unlinkat(files->folder, "ust", AT_REMOVEDIR);
	return unlinkat(files->host, files->name, AT_REMOVEDIR) == 0;
}
