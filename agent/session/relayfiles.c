/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "session/relayfiles.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "session/relayfolder.h"

#define STAMP_SIZE 15 /* YYYYMMDD-HHMMSS */

/* The session's folder */

/*
 * How far the time in a folder's name, "SESSION-YYYYMMDD-HHMMSS", is from @created; -1 if it cannot be this
 * session's. relayd writes local time, and its zone may be another than ours: differences of
 * whole quarters of an hour within a day are accepted.
 */
static int64_t stamp_distance(const char *entry, const char *name, uint64_t created)
{
	size_t size = strlen(name);
	struct tm tm = {0}, local = {0};
	time_t moment = (time_t)created;
	int64_t off;
	int end = 0;

	if (strncmp(entry, name, size) != 0 || entry[size] != '-' || strlen(entry) != size + 1 + STAMP_SIZE ||
		sscanf(entry + size + 1, "%4d%2d%2d-%2d%2d%2d%n", &tm.tm_year, &tm.tm_mon, &tm.tm_mday,
			&tm.tm_hour, &tm.tm_min, &tm.tm_sec, &end) != 6 ||
		end != STAMP_SIZE)
		return -1;
	tm.tm_year -= 1900;
	tm.tm_mon -= 1;
	off = (int64_t)timegm(&tm) - (int64_t)created;
	if (off % (15 * 60) != 0 || off > 26 * 3600 || off < -26 * 3600)
		return -1;
	localtime_r(&moment, &local);
	return llabs(off - local.tm_gmtoff);
}

bool relay_passes(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM || error == EIO;
}

/* The name of the session's folder in that of the host; NULL, with errno, if there is none. */
static char *find_folder(int host, const char *name, uint64_t created)
{
	int listed = dup(host);
	DIR *list = listed < 0 ? NULL : fdopendir(listed);
	int64_t best = INT64_MAX;
	char *found = NULL;
	struct dirent *entry;
	int error = errno;

	if (!list) {
		if (listed >= 0)
			close(listed);
		errno = error;
		return NULL;
	}
	rewinddir(list);
	while ((entry = readdir(list))) {
		int64_t distance = stamp_distance(entry->d_name, name, created);

		if (distance >= 0 && distance < best) {
			best = distance;
			g_free(found);
			found = g_strdup(entry->d_name);
		}
	}
	closedir(list);
	errno = ENOENT;
	return found;
}

enum relayfiles_status relayfiles_open(const char *output, const struct session_identity *session,
	struct relayfiles **files, char *error, size_t error_size)
{
	struct relayfiles *made = g_new0(struct relayfiles, 1);
	char host[sizeof(session->host)];
	bool none = false;
	int why;

	session_host(session, host, sizeof(host));
	made->names = g_string_chunk_new(4096);
	made->host = made->folder = -1;
	made->output = open(output, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	made->path = g_strdup(output);
	if (made->output >= 0) {
		made->host = openat(made->output, host, FOLDER_FLAGS);
		none = made->host < 0 && errno == ENOENT;
		g_free(made->path);
		made->path = g_strdup_printf("%s/%s", output, host);
	}
	if (made->host >= 0) {
		made->name = find_folder(made->host, session->name, session->created);
		none = !made->name && errno == ENOENT;
		if (made->name)
			made->folder = openat(made->host, made->name, FOLDER_FLAGS);
	}
	if (made->folder >= 0) {
		g_free(made->path);
		made->path = g_strdup_printf("%s/%s/%s", output, host, made->name);
		*files = made;
		return RELAYFILES_OK;
	}
	why = errno;
	snprintf(error, error_size, "%s: %s", made->path, g_strerror(why));
	relayfiles_close(made);
	if (relay_passes(why))
		return RELAYFILES_BUSY;
	return none ? RELAYFILES_NONE : RELAYFILES_UNREADABLE;
}

void relayfiles_close(struct relayfiles *files)
{
	if (files->folder >= 0)
		close(files->folder);
	if (files->host >= 0)
		close(files->host);
	if (files->output >= 0)
		close(files->output);
	g_string_chunk_free(files->names);
	g_free(files->name);
	g_free(files->path);
	g_free(files);
}

const char *relayfiles_path(const struct relayfiles *files)
{
	return files->path;
}

/* Traces */

int relay_open_folder(int folder, const char *path)
{
	int found = openat(folder, ".", FOLDER_FLAGS);
	g_auto(GStrv) names = g_strsplit(path, "/", -1);

	for (char **name = names; *name && found >= 0; name++) {
		int next = openat(found, *name, FOLDER_FLAGS);

		close(found);
		found = next;
	}
	return found;
}

static char *trace_folder(const struct stream_key *key)
{
	if (key->bits == KERNEL_BITS)
		return g_strdup("kernel");
	return g_strdup_printf(
		"ust/uid/%" G_GUINT64_FORMAT "/%" G_GUINT32_FORMAT "-bit", key->user, key->bits);
}

int relayfiles_open_trace(struct relayfiles *files, const struct stream_key *key, const char *file)
{
	g_autofree char *path = trace_folder(key);
	int folder = relay_open_folder(files->folder, path), opened;

	if (folder < 0 || !file)
		return folder;
	opened = openat(folder, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	close(folder);
	return opened;
}

GPtrArray *relay_list_folder(int folder)
{
	DIR *list = folder >= 0 ? fdopendir(folder) : NULL;
	GPtrArray *names;
	struct dirent *entry;
	int error = errno;

	if (!list) {
		if (folder >= 0)
			close(folder);
		errno = error;
		return NULL;
	}
	names = g_ptr_array_new_with_free_func(g_free);
	while (errno = 0, (entry = readdir(list)))
		if (entry->d_name[0] != '.')
			g_ptr_array_add(names, g_strdup(entry->d_name));
	error = errno;
	closedir(list);
	if (error)
		g_clear_pointer(&names, g_ptr_array_unref);
	errno = error;
	return names;
}

/* What came of it, if not every folder could be looked at: an error that may pass counts most. */
static int worse(int error, int other)
{
	if (other == ENOENT)
		return error;
	return !error || relay_passes(other) ? other : error;
}

struct visitor {
	void (*visit)(void *data, const struct stream_key *key);
	void *data;
};

/* Visits a trace if it is there; returns what came of it, of @error and of this. */
static int visit_trace(
	struct relayfiles *files, const struct visitor *visitor, const struct stream_key *key, int error)
{
	int folder = relayfiles_open_trace(files, key, NULL);

	if (folder < 0)
		return worse(error, errno);
	close(folder);
	visitor->visit(visitor->data, key);
	return error;
}

int relayfiles_each_trace(
	struct relayfiles *files, void (*visit)(void *data, const struct stream_key *key), void *data)
{
	g_autoptr(GPtrArray) users = relay_list_folder(relay_open_folder(files->folder, "ust/uid"));
	static const struct stream_key kernel = {.user = KERNEL_USER, .bits = KERNEL_BITS};
	static const uint32_t bits[] = {32, 64};
	const struct visitor visitor = {visit, data};
	int error = users ? 0 : worse(0, errno);

	for (guint i = 0; users && i < users->len; i++) {
		struct stream_key key = {0};

		if (!g_ascii_string_to_unsigned(
			    g_ptr_array_index(users, i), 10, 0, UINT64_MAX, &key.user, NULL))
			continue;
		for (size_t j = 0; j < G_N_ELEMENTS(bits); j++) {
			key.bits = bits[j];
			error = visit_trace(files, &visitor, &key, error);
		}
	}
	return visit_trace(files, &visitor, &kernel, error);
}

/* Which CTF */

struct ctf2_search {
	struct relayfiles *files;
	bool found;
};

/* Metadata of CTF 2 are JSON texts, each behind a record separator. */
static void look_for_ctf2(void *data, const struct stream_key *key)
{
	struct ctf2_search *search = data;
	int file = relayfiles_open_trace(search->files, key, "metadata");
	char head[4096];
	ssize_t size = file < 0 ? 0 : pread(file, head, sizeof(head), 0);

	if (file >= 0)
		close(file);
	search->found |= size > 0 && memmem(head, (size_t)size, "\x1e{", 2);
}

bool relayfiles_are_ctf2(struct relayfiles *files)
{
	struct ctf2_search search = {files, false};

	relayfiles_each_trace(files, look_for_ctf2, &search);
	return search.found;
}
