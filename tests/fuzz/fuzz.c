/* SPDX-License-Identifier: BSD-2-Clause */
#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

static char *folder;
static pid_t owner; /* of the folder: no child of it */

void fuzz_hold(bool condition, const char *rule)
{
	if (condition)
		return;
	fprintf(stderr, "this does not hold: %s\n", rule);
	abort();
}

void fuzz_clear_folder(void)
{
	GDir *dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);

		unlink(path);
	}
	if (dir)
		g_dir_close(dir);
}

static void remove_folder(void)
{
	if (getpid() != owner)
		return;
	fuzz_clear_folder();
	g_rmdir(folder);
	g_free(folder);
}

const char *fuzz_folder(void)
{
	if (folder)
		return folder;
	folder = g_strdup("/dev/shm/blkin-fuzz-XXXXXX");
	owner = getpid();
	fuzz_hold(g_mkdtemp(folder) != NULL, "there is a folder in /dev/shm");
	atexit(remove_folder);
	return folder;
}

char *fuzz_write(const char *name, const uint8_t *data, size_t size)
{
	char *path = g_build_filename(fuzz_folder(), name, NULL);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	fuzz_hold(fd >= 0 && write(fd, data, size) == (ssize_t)size, "a file can be made in /dev/shm");
	close(fd);
	return path;
}

bool fuzz_is_printable(const char *text)
{
	if (!g_utf8_validate(text, -1, NULL))
		return false;
	for (; *text; text = g_utf8_next_char(text))
		if (g_unichar_iscntrl(g_utf8_get_char(text)))
			return false;
	return true;
}
