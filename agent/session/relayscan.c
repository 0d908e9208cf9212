/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/relayscan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/relayfolder.h"

/* Indexes are small; a file beyond this is none. */
#define INDEX_MAX (256 * 1024 * 1024)

/* Indexes */

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
	g_autoptr(GPtrArray) names = relay_list_folder(trace < 0 ? -1 : openat(trace, "index", FOLDER_FLAGS));
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
	if (!position || place_packet(&position->done, packet->begin) != PACKET_DONE)
		g_array_append_val(scan->packets, found);
}

bool relay_scan_trace(struct relayfiles *files, const struct stream_key *key,
	const struct positions *positions, GArray *packets)
{
	struct scan scan = {
		.files = files, .positions = positions, .packets = packets, .key = *key, .file = NULL};

	return read_indexes(files, key, scan_packet, &scan, &scan.file);
}

static bool scan_trace(void *data, const struct stream_key *key)
{
	struct scan *scan = data;

	return relay_scan_trace(scan->files, key, scan->positions, scan->packets);
}

static gint compare_packets(gconstpointer left, gconstpointer right)
{
	const struct relay_packet *a = &((const struct relayfiles_packet *)left)->is;
	const struct relay_packet *b = &((const struct relayfiles_packet *)right)->is;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

bool relay_scan(struct relayfiles *files, const struct positions *positions, GArray *packets, char *error,
	size_t error_size)
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

bool relay_locate(void *files, const struct stream_key *key, uint64_t begin, struct packet_info *info)
{
	struct search search = {key, begin, info, false};
	const char *file;

	read_indexes(files, key, search_packet, &search, &file);
	return search.found;
}
