/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/kept.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "base/log.h"
#include "write_out.h"

#define TEXT ".txt"
#define JSON ".jsonl"
#define PART ".part"
#define ANSWER_MODE 0640

static char *path_of(const char *folder, uint64_t id, const char *ending)
{
	return g_strdup_printf("%s/%016" PRIx64 "%s", folder, id, ending);
}

/* The folder's answer that has a span with this id, "" if none has; a trace's is found by its name. */
static char *find_span(const char *folder, uint64_t id)
{
	g_autofree char *said = g_strdup_printf("\"id\":\"%016" PRIx64 "\"", id);
	GDir *list = g_dir_open(folder, 0, NULL);
	char *found = NULL;
	const char *name;

	while (list && !found && (name = g_dir_read_name(list))) {
		g_autofree char *path = g_build_filename(folder, name, NULL), *answer = NULL;

		if (g_str_has_suffix(name, JSON) && g_file_get_contents(path, &answer, NULL, NULL) &&
			strstr(answer, said))
			found = g_strndup(path, strlen(path) - strlen(JSON));
	}
	if (list)
		g_dir_close(list);
	return found;
}

bool kept_show(const struct config *config, uint64_t id, bool json, bool *failed)
{
	g_autofree char *folder = g_build_filename(config->state_directory, FLIGHT_FOLDER, NULL);
	g_autofree char *stem = path_of(folder, id, ""), *as_json = g_strconcat(stem, JSON, NULL),
			*path = NULL, *answer = NULL;
	g_autoptr(GError) error = NULL;
	gsize size;

	if (access(as_json, F_OK) != 0) {
		g_free(stem);
		stem = find_span(folder, id);
	}
	if (!stem)
		return false;
	path = g_strconcat(stem, json ? JSON : TEXT, NULL);
	*failed = !g_file_get_contents(path, &answer, &size, &error);
	if (*failed)
		log_error("%s", error->message);
	else
		write_out((const uint8_t *)answer, size, failed);
	return true;
}

struct kept_files kept_files(const char *folder, uint64_t id)
{
	return (struct kept_files){
		.text = path_of(folder, id, TEXT PART),
		.json = path_of(folder, id, JSON PART),
	};
}

void kept_files_free(struct kept_files *files)
{
	g_free(files->text);
	g_free(files->json);
}

bool kept_begin(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, ANSWER_MODE);
	bool good = fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0;

	if (!good)
		log_error("%s: %s", path, strerror(errno));
	if (fd >= 0)
		close(fd);
	return good;
}

static bool put(const char *from, const char *folder, uint64_t id, const char *ending)
{
	g_autofree char *to = path_of(folder, id, ending);

	if (rename(from, to) == 0)
		return true;
	log_error("%s: %s", to, strerror(errno));
	return false;
}

/* The one that the agent looks for comes last. */
bool kept_finish(const char *folder, uint64_t id, const struct kept_files *files)
{
	return put(files->text, folder, id, TEXT) && put(files->json, folder, id, JSON);
}
