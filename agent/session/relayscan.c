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
/* A number of a CPU has no more. */
#define CPU_DIGITS 9

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

/* The number of the CPU in CHANNEL_CPU_FILE; false: there is none. */
static bool cpu_of(const char *file, uint64_t *cpu)
{
	const char *end = strrchr(file, '_'), *at = end;

	*cpu = 0;
	while (at && at > file && g_ascii_isdigit(at[-1]))
		at--;
	if (!at || at == end || at == file || at[-1] != '_' || end - at > CPU_DIGITS)
		return false;
	*cpu = g_ascii_strtoull(at, NULL, 10);
	return true;
}

/* Entries of one file. */
struct entries {
	const struct indexes *of;
	uint64_t cpu;
	bool knows_cpu, odd;
};

/* A program can write the stream's number, and would have one more stream with each packet. */
static void take_entry(void *data, const struct relay_packet *packet)
{
	struct entries *entries = data;

	if (!entries->knows_cpu)
		entries->cpu = packet->id;
	entries->knows_cpu = true;
	if (packet->id == entries->cpu)
		entries->of->take(entries->of->data, packet);
	else
		entries->odd = true;
}

static void read_index(struct indexes *indexes, const struct stream_key *key, int trace, const char *name)
{
	g_autofree char *path = g_strconcat("index/", name, NULL), *file = NULL;
	struct entries entries = {.of = indexes};
	struct buffer index = {0};

	if (!read_file(openat(trace, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC), &index)) {
		if (errno != ENOENT)
			found_wrong(indexes, key, path, errno);
	} else {
		file = g_strndup(name, strlen(name) - strlen(".idx"));
		indexes->file = g_string_chunk_insert_const(indexes->files->names, file);
		entries.knows_cpu = cpu_of(file, &entries.cpu);
		if (!relay_index_read(index.data, index.size, take_entry, &entries) || entries.odd)
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
	struct relay_found *found;
	struct stream_key key; /* of the trace, of which were found: */
	uint64_t bytes;
	bool holds_events;
};

static gint compare_packets(gconstpointer left, gconstpointer right)
{
	const struct relay_packet *a = &((const struct relayfiles_packet *)left)->is;
	const struct relay_packet *b = &((const struct relayfiles_packet *)right)->is;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->sequence < b->sequence ? -1 : a->sequence > b->sequence;
}

/* Puts them in order, and leaves out the last ones if there are too many. */
static void put_in_order(struct relay_found *found)
{
	g_array_sort(found->packets, compare_packets);
	if (found->packets->len <= found->most)
		return;
	g_array_set_size(found->packets, found->most);
	found->more = true;
}

static bool is_done(
	const struct positions *positions, const struct stream_key *key, const struct relay_packet *packet)
{
	const struct position *position = positions_find(positions, key);

	return position && stream_point_packet(&position->done, packet->begin) == PACKET_DONE;
}

static struct stream_key stream_of(const struct stream_key *trace, const struct relay_packet *packet)
{
	return (struct stream_key){trace->user, trace->bits, packet->class_id, packet->id};
}

static void scan_packet(void *data, const struct relay_packet *packet)
{
	struct scan *scan = data;
	struct relayfiles_packet found = {stream_of(&scan->key, packet), *packet, scan->indexes.file};

	if (is_done(scan->positions, &found.key, packet))
		return;
	scan->bytes += packet->size;
	scan->found->newest = MAX(scan->found->newest, packet->begin);
	scan->holds_events |= relay_packet_holds_events(packet);
	g_array_append_val(scan->found->packets, found);
	if (scan->found->packets->len >= 2 * scan->found->most)
		put_in_order(scan->found);
}

static void mark_blank(GArray *packets, const struct stream_key *trace)
{
	for (guint i = 0; i < packets->len; i++) {
		struct relayfiles_packet *packet = &g_array_index(packets, struct relayfiles_packet, i);

		packet->blank |= packet->key.user == trace->user && packet->key.bits == trace->bits;
	}
}

/* A program that ended while it registered leaves packets that hold nothing, and that cannot be read unless
 * another one of its user registers. */
static void scan_trace(void *data, const struct stream_key *key)
{
	struct scan *scan = data;

	scan->key = *key;
	scan->bytes = 0;
	scan->holds_events = false;
	read_indexes(&scan->indexes, key);
	if (scan->bytes && !scan->holds_events && !relay_metadata_have_streams(scan->indexes.files, key))
		mark_blank(scan->found->packets, key);
	else
		scan->found->bytes += scan->bytes;
}

enum relay_scanned relay_scan(struct relayfiles *files, const struct positions *positions,
	struct relay_found *found, char *error, size_t error_size)
{
	struct scan scan = {.indexes = {.files = files, .take = scan_packet, .data = &scan},
		.positions = positions,
		.found = found};
	int folders = relayfiles_each_trace(files, scan_trace, &scan);

	put_in_order(found);
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

struct newest {
	const struct stream_key *trace;
	const struct positions *positions;
	uint64_t begin;
};

static void take_newest(void *data, const struct relay_packet *packet)
{
	struct newest *newest = data;
	struct stream_key key = stream_of(newest->trace, packet);

	if (relay_packet_holds_events(packet) && !is_done(newest->positions, &key, packet))
		newest->begin = MAX(newest->begin, packet->begin);
}

uint64_t relay_newest(
	struct relayfiles *files, const struct stream_key *key, const struct positions *positions)
{
	struct newest newest = {key, positions, 0};
	struct indexes indexes = {.files = files, .take = take_newest, .data = &newest};

	read_indexes(&indexes, key);
	return newest.begin;
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
