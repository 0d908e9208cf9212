/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "session/relayfiles.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define STAMP_SIZE 15 /* YYYYMMDD-HHMMSS */
/* Indexes are small; a file beyond this is none. */
#define INDEX_MAX (256 * 1024 * 1024)

struct relayfiles {
	int output, host, folder; /* folders, each in the one before */
	char *name;               /* of the last */
	char *path;
	GStringChunk *names;
};

/* The session's folder */

/*
 * How far the time in a folder's name, "SESSION-YYYYMMDD-HHMMSS", is from @created; -1 if it cannot be this
 * session's. relayd writes local time, and its zone may be another than ours: whole quarters of an hour
 * within a day are let pass.
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

/* What may be over when it is tried again. */
static bool passes(int error)
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

	if (!list)
		return NULL;
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

enum relayfiles_status relayfiles_open(const char *output, const char *name, uint64_t created,
	struct relayfiles **files, char *error, size_t error_size)
{
	struct relayfiles *made = g_new0(struct relayfiles, 1);
	char host[256] = "";
	bool none = false;
	int why;

	gethostname(host, sizeof(host) - 1);
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
		made->name = find_folder(made->host, name, created);
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
	if (passes(why))
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

static int open_in(int folder, const char *path)
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

int relayfiles_open_trace(struct relayfiles *files, const struct stream_key *key, const char *file)
{
	g_autofree char *path = g_strdup_printf(
		"ust/uid/%" G_GUINT64_FORMAT "/%" G_GUINT32_FORMAT "-bit", key->user, key->bits);
	int folder = open_in(files->folder, path), opened;

	if (folder < 0 || !file)
		return folder;
	opened = openat(folder, file, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	close(folder);
	return opened;
}

/* Lists a folder, and closes it; NULL if it cannot be. */
static GPtrArray *list_folder(int folder)
{
	DIR *list = folder >= 0 ? fdopendir(folder) : NULL;
	GPtrArray *names;
	struct dirent *entry;

	if (!list) {
		if (folder >= 0)
			close(folder);
		return NULL;
	}
	names = g_ptr_array_new_with_free_func(g_free);
	while ((entry = readdir(list)))
		if (entry->d_name[0] != '.')
			g_ptr_array_add(names, g_strdup(entry->d_name));
	closedir(list);
	return names;
}

bool relayfiles_each_trace(
	struct relayfiles *files, bool (*visit)(void *data, const struct stream_key *key), void *data)
{
	g_autoptr(GPtrArray) users = list_folder(open_in(files->folder, "ust/uid"));
	static const uint32_t bits[] = {32, 64};
	bool all = true;

	for (guint i = 0; users && i < users->len; i++) {
		struct stream_key key = {0};

		if (!g_ascii_string_to_unsigned(
			    g_ptr_array_index(users, i), 10, 0, UINT64_MAX, &key.user, NULL))
			continue;
		for (size_t j = 0; j < G_N_ELEMENTS(bits); j++) {
			int folder;

			key.bits = bits[j];
			folder = relayfiles_open_trace(files, &key, NULL);
			if (folder < 0)
				continue;
			close(folder);
			all &= visit(data, &key);
		}
	}
	return all;
}

static bool read_file(int file, struct buffer *data)
{
	struct stat stat;
	ssize_t got = -1;

	data->size = 0;
	if (file >= 0 && fstat(file, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size <= INDEX_MAX)
		got = pread(file, buffer_reserve(data, (size_t)stat.st_size + 1), (size_t)stat.st_size, 0);
	if (got > 0)
		data->size = (size_t)got;
	if (file >= 0)
		close(file);
	return got >= 0;
}

/* Reads all indexes of a trace. An index that relayd removes meanwhile is none; false if one cannot be
 * understood. */
static bool read_indexes(struct relayfiles *files, const struct stream_key *key,
	void (*take)(void *data, const struct relay_packet *packet), void *data, const char **file)
{
	int trace = relayfiles_open_trace(files, key, NULL);
	g_autoptr(GPtrArray) names = list_folder(trace < 0 ? -1 : openat(trace, "index", FOLDER_FLAGS));
	struct buffer index = {0};
	bool good = true;

	for (guint i = 0; names && i < names->len; i++) {
		g_autofree char *path = g_strconcat("index/", g_ptr_array_index(names, i), NULL);

		if (!g_str_has_suffix(path, ".idx"))
			continue;
		if (!read_file(openat(trace, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), &index)) {
			good &= errno == ENOENT;
			continue;
		}
		path[strlen(path) - strlen(".idx")] = '\0';
		*file = g_string_chunk_insert_const(files->names, path + strlen("index/"));
		good &= relay_index_read(index.data, index.size, take, data);
	}
	buffer_free(&index);
	if (trace >= 0)
		close(trace);
	return good && names;
}

/* Scanning */

struct scan {
	struct relayfiles *files;
	const struct positions *positions;
	GArray *packets;
	struct stream_key key;
	const char *file;
};

static void scan_packet(void *data, const struct relay_packet *packet)
{
	struct scan *scan = data;
	struct relayfiles_packet found = {scan->key, *packet, scan->file};
	const struct position *position;

	found.key.class_id = packet->class_id;
	found.key.id = packet->id;
	position = positions_find(scan->positions, &found.key);
	if (position && position->done.started &&
		(packet->begin < position->done.begin ||
			(packet->begin == position->done.begin && position->done.ended)))
		return;
	g_array_append_val(scan->packets, found);
}

bool relayfiles_scan_trace(struct relayfiles *files, const struct stream_key *key,
	const struct positions *positions, GArray *packets)
{
	struct scan scan = {
		.files = files, .positions = positions, .packets = packets, .key = *key, .file = NULL};

	return read_indexes(files, key, scan_packet, &scan, &scan.file);
}

static bool scan_trace(void *data, const struct stream_key *key)
{
	struct scan *scan = data;

	return relayfiles_scan_trace(scan->files, key, scan->positions, scan->packets);
}

static gint compare_packets(gconstpointer left, gconstpointer right)
{
	const struct relay_packet *a = &((const struct relayfiles_packet *)left)->is;
	const struct relay_packet *b = &((const struct relayfiles_packet *)right)->is;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

bool relayfiles_scan(struct relayfiles *files, const struct positions *positions, GArray *packets,
	char *error, size_t error_size)
{
	struct scan scan = {.files = files, .positions = positions, .packets = packets};
	bool good = relayfiles_each_trace(files, scan_trace, &scan);

	g_array_sort(packets, compare_packets);
	if (!good)
		snprintf(error, error_size, "%s: an index cannot be read", files->path);
	return good;
}

/* Locating */

struct search {
	const struct stream_key *key;
	uint64_t begin;
	struct packet_info *info;
	bool found;
};

static void search_packet(void *data, const struct relay_packet *packet)
{
	struct search *search = data;

	if (packet->begin == search->begin && packet->id == search->key->id &&
		packet->class_id == search->key->class_id) {
		*search->info = (struct packet_info){packet->sequence, packet->discarded};
		search->found = true;
	}
}

bool relayfiles_locate(void *files, const struct stream_key *key, uint64_t begin, struct packet_info *info)
{
	struct search search = {key, begin, info, false};
	const char *file;

	read_indexes(files, key, search_packet, &search, &file);
	return search.found;
}

/* Which CTF */

/* Metadata of CTF 2 are JSON texts, each behind a record separator. */
static bool is_not_ctf2(void *data, const struct stream_key *key)
{
	int file = relayfiles_open_trace(data, key, "metadata");
	char head[4096];
	ssize_t size = file < 0 ? 0 : pread(file, head, sizeof(head), 0);

	if (file >= 0)
		close(file);
	return size <= 0 || !memmem(head, (size_t)size, "\x1e{", 2);
}

bool relayfiles_are_ctf2(struct relayfiles *files)
{
	return !relayfiles_each_trace(files, is_not_ctf2, files);
}

/* Removing */

/* Removes the regular files in a folder, which is closed. */
static void remove_files(int folder)
{
	int listed = folder >= 0 ? dup(folder) : -1;
	g_autoptr(GPtrArray) names = list_folder(listed);

	for (guint i = 0; names && i < names->len; i++) {
		struct stat stat;
		const char *name = g_ptr_array_index(names, i);

		if (fstatat(folder, name, &stat, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(stat.st_mode))
			unlinkat(folder, name, 0);
	}
	if (folder >= 0)
		close(folder);
}

static bool remove_trace(void *data, const struct stream_key *key)
{
	struct relayfiles *files = data;
	g_autofree char *user = g_strdup_printf("ust/uid/%" G_GUINT64_FORMAT, key->user);
	g_autofree char *bits = g_strdup_printf("%" G_GUINT32_FORMAT "-bit", key->bits);
	int trace = relayfiles_open_trace(files, key, NULL), parent = open_in(files->folder, user);

	if (trace >= 0) {
		remove_files(openat(trace, "index", FOLDER_FLAGS));
		unlinkat(trace, "index", AT_REMOVEDIR);
	}
	remove_files(trace);
	if (parent >= 0) {
		unlinkat(parent, bits, AT_REMOVEDIR);
		close(parent);
	}
	return true;
}

/* Also of users whose traces are gone already: an agent before may have been killed in between. */
static void remove_users(struct relayfiles *files)
{
	int folder = open_in(files->folder, "ust/uid");
	g_autoptr(GPtrArray) users = list_folder(folder >= 0 ? dup(folder) : -1);
	uint64_t user;

	for (guint i = 0; users && i < users->len; i++)
		if (g_ascii_string_to_unsigned(g_ptr_array_index(users, i), 10, 0, UINT64_MAX, &user, NULL))
			unlinkat(folder, g_ptr_array_index(users, i), AT_REMOVEDIR);
	if (folder >= 0)
		close(folder);
}

bool relayfiles_remove(struct relayfiles *files)
{
	relayfiles_each_trace(files, remove_trace, files);
	remove_users(files);
	unlinkat(files->folder, "ust/uid", AT_REMOVEDIR);
	unlinkat(files->folder, "ust", AT_REMOVEDIR);
	return unlinkat(files->host, files->name, AT_REMOVEDIR) == 0;
}
