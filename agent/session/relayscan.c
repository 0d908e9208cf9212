/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/relayscan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/relayfolder.h"
#include "session/relaymetadata.h"

/* Indexes are small; a file beyond this is none. */
#define INDEX_MAX (256 * 1024 * 1024)

/* Indexes */

static bool read_file(int file, struct buffer *data)
{
	struct stat stat;
	ssize_t got = -1;

	data->size = 0;
	errno = file < 0 ? errno : 0; /* none: it is no file that can be an index */
	if (file >= 0 && fstat(file, &stat) == 0 && S_ISREG(stat.st_mode) && stat.st_size <= INDEX_MAX)
		got = pread(file, buffer_reserve(data, (size_t)stat.st_size + 1), (size_t)stat.st_size, 0);
	if (got > 0)
		data->size = (size_t)got;
	if (file >= 0) {
		int error = errno;

		close(file);
		errno = error;
	}
	return got >= 0;
}

/* Whose packets, and what is wrong with the indexes: the first of what may pass, or of all. */
struct indexes {
	struct relayfiles *files;
	void (*take)(void *data, const struct relay_packet *packet);
	void *data;
	const char *file; /* that of the packets that are taken */
	enum relay_scanned scanned;
	char wrong[256];
};

static void found_wrong(struct indexes *indexes, const struct stream_key *key, const char *path, int error)
{
	enum relay_scanned scanned = relay_passes(error) ? RELAY_BUSY : RELAY_PART;

	if (!error && key->user != KERNEL_USER) {
		indexes->files->odd = true;
		indexes->files->odd_user = key->user;
	}
	if (scanned <= indexes->scanned)
		return;
	indexes->scanned = scanned;
	snprintf(indexes->wrong, sizeof(indexes->wrong), "user %" G_GUINT64_FORMAT ", %s: %s", key->user,
		path, error ? g_strerror(error) : "it has entries that cannot be");
}

static void read_index(struct indexes *indexes, const struct stream_key *key, int trace, const char *name)
{
	g_autofree char *path = g_strconcat("index/", name, NULL), *file = NULL;
	struct buffer index = {0};

	if (!read_file(openat(trace, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), &index)) {
		if (errno != ENOENT)
			found_wrong(indexes, key, path, errno);
	} else {
		file = g_strndup(name, strlen(name) - strlen(".idx"));
		indexes->file = g_string_chunk_insert_const(indexes->files->names, file);
		if (!relay_index_read(index.data, index.size, indexes->take, indexes->data))
			found_wrong(indexes, key, path, 0);
	}
	buffer_free(&index);
}

/* Before its first packet a trace has no index, and nothing in the files of its streams. */
static bool has_no_packet(int trace)
{
	g_autoptr(GPtrArray) names = relay_list_folder(openat(trace, ".", FOLDER_FLAGS));
	struct stat status;

	for (guint i = 0; names && i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);

		if (strcmp(name, "metadata") != 0 &&
			(fstatat(trace, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || status.st_size))
			return false;
	}
	return names;
}

/* Reads all indexes of a trace. An index that relayd removes meanwhile is none. */
static void read_indexes(struct indexes *indexes, const struct stream_key *key)
{
	int trace = relayfiles_open_trace(indexes->files, key, NULL);
	g_autoptr(GPtrArray) names = relay_list_folder(trace < 0 ? -1 : openat(trace, "index", FOLDER_FLAGS));
	int error = errno;

	if (!names && !(error == ENOENT && trace >= 0 && has_no_packet(trace)))
		found_wrong(indexes, key, "index", error);
	for (guint i = 0; names && i < names->len; i++)
		if (g_str_has_suffix(g_ptr_array_index(names, i), ".idx"))
			read_index(indexes, key, trace, g_ptr_array_index(names, i));
	if (trace >= 0)
		close(trace);
}

/* Scanning */

struct scan {
	struct indexes indexes;
	const struct positions *positions;
	GArray *packets;
	struct stream_key key;
};

static void scan_packet(void *data, const struct relay_packet *packet)
{
	struct scan *scan = data;
	struct relayfiles_packet found = {scan->key, *packet, scan->indexes.file};
	const struct position *position;

	found.key.class_id = packet->class_id;
	found.key.id = packet->id;
	position = positions_find(scan->positions, &found.key);
	if (!position || stream_point_packet(&position->done, packet->begin) != PACKET_DONE)
		g_array_append_val(scan->packets, found);
}

/* Whether none of the packets from @first on holds an event. */
static bool are_empty(const GArray *packets, guint first)
{
	for (guint i = first; i < packets->len; i++)
		if (relay_packet_holds_events(&g_array_index(packets, struct relayfiles_packet, i).is))
			return false;
	return true;
}

/* A program that ended while it registered leaves packets that hold nothing, and that cannot be read unless
 * another one of its user registers. */
static void scan_trace(void *data, const struct stream_key *key)
{
	struct scan *scan = data;
	guint first = scan->packets->len;

	scan->key = *key;
	read_indexes(&scan->indexes, key);
	if (scan->packets->len == first || !are_empty(scan->packets, first) ||
		relay_metadata_have_streams(scan->indexes.files, key))
		return;
	for (guint i = first; i < scan->packets->len; i++)
		g_array_index(scan->packets, struct relayfiles_packet, i).blank = true;
}

static void init_scan(
	struct scan *scan, struct relayfiles *files, const struct positions *positions, GArray *packets)
{
	*scan = (struct scan){
		.indexes = {.files = files, .take = scan_packet, .data = scan},
		.positions = positions,
		.packets = packets,
	};
}

void relay_scan_trace(struct relayfiles *files, const struct stream_key *key,
	const struct positions *positions, GArray *packets)
{
	struct scan scan;

	init_scan(&scan, files, positions, packets);
	scan_trace(&scan, key);
}

static gint compare_packets(gconstpointer left, gconstpointer right)
{
	const struct relay_packet *a = &((const struct relayfiles_packet *)left)->is;
	const struct relay_packet *b = &((const struct relayfiles_packet *)right)->is;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

enum relay_scanned relay_scan(struct relayfiles *files, const struct positions *positions, GArray *packets,
	char *error, size_t error_size)
{
	struct scan scan;
	int folders;

	init_scan(&scan, files, positions, packets);
	folders = relayfiles_each_trace(files, scan_trace, &scan);
	g_array_sort(packets, compare_packets);
	if (folders && (scan.indexes.scanned == RELAY_WHOLE || relay_passes(folders))) {
		snprintf(error, error_size, "%s: users' folders cannot be opened: %s", files->path,
			g_strerror(folders));
		return relay_passes(folders) ? RELAY_BUSY : RELAY_PART;
	}
	if (scan.indexes.scanned != RELAY_WHOLE)
		snprintf(error, error_size, "%s: an index cannot be read (%s)", files->path,
			scan.indexes.wrong);
	return scan.indexes.scanned;
}

bool relay_scan_was_odd(struct relayfiles *files, uint64_t *user)
{
	bool odd = files->odd;

	*user = files->odd_user;
	files->odd = false;
	return odd;
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
	struct indexes indexes = {.files = files, .take = search_packet, .data = &search};

	read_indexes(&indexes, key);
	return search.found;
}
