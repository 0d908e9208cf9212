/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/sources.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "config/file.h"

static int is_drop_in(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && g_str_has_suffix(entry->d_name, ".conf");
}

static int scan(const char *folder, GPtrArray *files)
{
	struct dirent **entries = NULL;
	int count = scandir(folder, &entries, is_drop_in, alphasort);

	for (int i = 0; i < count; i++) {
		g_ptr_array_add(files, g_build_filename(folder, entries[i]->d_name, NULL));
		free(entries[i]);
	}
	free(entries);
	return count < 0 && errno != ENOENT ? -1 : 0;
}

int sources_list_drop_ins(const char *path, GPtrArray *files)
{
	g_autofree char *folder = g_strconcat(path, ".d", NULL);

	if (scan(folder, files) == 0)
		return 0;
	log_error("%s: cannot be read: %s", folder, g_strerror(errno));
	return -1;
}

/* What is no regular file, a pipe say, could keep the reader waiting, and is not read twice. */
static void hash_file(GChecksum *hash, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat file;
	guchar bytes[4096];
	ssize_t size = 0;

	g_checksum_update(hash, (const guchar *)path, -1);
	g_checksum_update(hash, (const guchar *)(fd < 0 ? "-" : "+"), 2);
	if (fd < 0)
		return;
	if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size <= CONFIG_FILE_MAX) {
		while ((size = read(fd, bytes, sizeof(bytes))) > 0)
			g_checksum_update(hash, bytes, size);
	}
	close(fd);
}

char *sources_hash(const char *path)
{
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *folder = g_strconcat(path, ".d", NULL);
	GChecksum *hash = g_checksum_new(G_CHECKSUM_SHA256);
	char *text;

	g_ptr_array_add(files, g_strdup(path));
	scan(folder, files);
	for (guint i = 0; i < files->len; i++)
		hash_file(hash, g_ptr_array_index(files, i));
	text = g_strdup(g_checksum_get_string(hash));
	g_checksum_free(hash);
	return text;
}
