/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/relaycarve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "session/relayfolder.h"

#define PACKET_MAGIC 0xC1FC1FC1
#define METADATA_MAGIC 0x75D11D57
#define COPY_SIZE (256 * 1024)
/* Where LTTng's packets have what tells them apart: magic, trace's id, stream class and id, then begin, end,
 * content size, packet size, sequence number. */
#define HEADER_SIZE 72
#define BEGIN_AT 32
#define SEQUENCE_AT 64
/* Of a metadata packet: magic, trace's id, checksum, content size, packet size. */
#define METADATA_HEADER_SIZE 32
#define METADATA_SIZE_AT 28

struct carve {
	struct relayfiles *files;
	const char *scratch;
	GPtrArray *traces;
	uint8_t *copy;
	char *error;
};

/* Numbers in packets are in the byte order of the traced machine, which the magic tells. */
static uint64_t number_at(const uint8_t *header, size_t at, size_t size, bool little)
{
	uint64_t number = 0;

	for (size_t i = 0; i < size; i++)
		number = number << 8 | header[at + (little ? size - 1 - i : i)];
	return number;
}

static bool starts_with(const uint8_t *header, uint32_t magic, bool *little)
{
	*little = number_at(header, 0, 4, true) == magic;
	return *little || number_at(header, 0, 4, false) == magic;
}

static bool fail(struct carve *carve, const char *path)
{
	snprintf(carve->error, RELAY_CARVE_ERROR, "%s cannot be written: %s", path, g_strerror(errno));
	return false;
}

static bool write_all(int file, const uint8_t *data, size_t size)
{
	while (size) {
		ssize_t put = write(file, data, size);

		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		data += put;
		size -= (size_t)put;
	}
	return true;
}

enum copied { COPIED, GONE, FAILED };

/* Appends a run of @from to @to. */
static enum copied copy_run(struct carve *carve, int from, uint64_t offset, uint64_t size, int to)
{
	while (size) {
		ssize_t got = pread(from, carve->copy, MIN(size, COPY_SIZE), (off_t)offset);

		if (got <= 0)
			return GONE;
		if (!write_all(to, carve->copy, (size_t)got))
			return FAILED;
		offset += (uint64_t)got;
		size -= (uint64_t)got;
	}
	return COPIED;
}

/* Whether the packet is still where it was: if so after it was copied, it was copied whole. */
static bool still_there(int file, const struct relay_packet *packet)
{
	uint8_t header[HEADER_SIZE];
	bool little;

	return pread(file, header, sizeof(header), (off_t)packet->offset) == sizeof(header) &&
	       starts_with(header, PACKET_MAGIC, &little) &&
	       number_at(header, BEGIN_AT, 8, little) == packet->begin &&
	       number_at(header, SEQUENCE_AT, 8, little) == packet->sequence;
}

static enum copied copy_packet(struct carve *carve, const struct relayfiles_packet *packet, int to)
{
	int from = relayfiles_open_trace(carve->files, &packet->key, packet->file);
	off_t end = lseek(to, 0, SEEK_END);
	enum copied copied = from >= 0 ? COPIED : relay_passes(errno) ? FAILED : GONE;

	if (copied == COPIED && !still_there(from, &packet->is))
		copied = GONE;
	if (copied == COPIED)
		copied = copy_run(carve, from, packet->is.offset, packet->is.size, to);
	if (copied == COPIED && !still_there(from, &packet->is))
		copied = GONE;
	if (copied == GONE && (end < 0 || ftruncate(to, end) != 0))
		copied = FAILED;
	if (from >= 0)
		close(from);
	return copied;
}

/*
 * How much of a metadata file is whole packets; relayd may be appending another. babeltrace2 2.1 reads beyond
 * the end of one that is cut off.
 */
static uint64_t whole_metadata(int file)
{
	uint8_t header[METADATA_HEADER_SIZE];
	uint64_t whole = 0;
	struct stat stat;
	bool little, packets = false;

	if (fstat(file, &stat) != 0)
		return 0;
	while (pread(file, header, sizeof(header), (off_t)whole) == sizeof(header) &&
		starts_with(header, METADATA_MAGIC, &little)) {
		uint64_t size = number_at(header, METADATA_SIZE_AT, 4, little) / 8;

		packets = true;
		if (size < METADATA_HEADER_SIZE || size > (uint64_t)stat.st_size - whole)
			break;
		whole += size;
	}
	return packets ? whole : (uint64_t)stat.st_size; /* text has none */
}

static bool copy_metadata(struct carve *carve, const struct stream_key *key, const char *trace)
{
	g_autofree char *path = g_strdup_printf("%s/metadata", trace);
	int from = relayfiles_open_trace(carve->files, key, "metadata");
	int missing = from < 0 ? errno : 0;
	int to = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
	enum copied copied = FAILED;

	if (missing == ENOENT && to >= 0)
		copied = COPIED; /* without any, this trace cannot be read, but the others can */
	if (from >= 0 && to >= 0)
		copied = copy_run(carve, from, 0, whole_metadata(from), to);
	if (copied != COPIED)
		fail(carve, path);
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	return copied == COPIED;
}

/* Makes the folder of a trace when its first packet is copied. */
static bool make_trace(struct carve *carve, const struct stream_key *key, const char *trace)
{
	for (guint i = 0; i < carve->traces->len; i++)
		if (!strcmp(g_ptr_array_index(carve->traces, i), trace))
			return true;
	if (mkdir(trace, 0700) != 0 && errno != EEXIST)
		return fail(carve, trace);
	if (!copy_metadata(carve, key, trace))
		return false;
	g_ptr_array_add(carve->traces, g_strdup(trace));
	return true;
}

static bool carve_packet(struct carve *carve, const struct relayfiles_packet *packet)
{
	g_autofree char *trace = g_strdup_printf("%s/%" G_GUINT64_FORMAT "-%" G_GUINT32_FORMAT,
		carve->scratch, packet->key.user, packet->key.bits);
	g_autofree char *path = g_strdup_printf(
		"%s/%" G_GUINT64_FORMAT "_%" G_GUINT64_FORMAT, trace, packet->key.class_id, packet->key.id);
	enum copied copied;
	int to;

	if (!make_trace(carve, &packet->key, trace))
		return false;
	to = open(path, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (to < 0)
		return fail(carve, path);
	copied = copy_packet(carve, packet, to);
	if (copied == FAILED)
		fail(carve, path);
	/* babeltrace2 takes no empty stream */
	if (lseek(to, 0, SEEK_END) == 0)
		unlink(path);
	close(to);
	return copied != FAILED;
}

/* Leaves out the traces of which no packet was there any more: babeltrace2 takes none without a stream. */
static void drop_empty(GPtrArray *traces)
{
	for (guint i = traces->len; i > 0; i--) {
		GDir *list = g_dir_open(g_ptr_array_index(traces, i - 1), 0, NULL);
		int files = 0;

		while (list && g_dir_read_name(list))
			files++;
		if (list)
			g_dir_close(list);
		if (files < 2)
			g_ptr_array_remove_index(traces, i - 1);
	}
}

GPtrArray *relay_carve(struct relayfiles *files, const struct relayfiles_packet *packets, size_t count,
	const char *scratch, char error[static RELAY_CARVE_ERROR])
{
	struct carve carve = {.files = files, .scratch = scratch, .error = error};
	bool good = true;

	relay_carve_remove(scratch);
	carve.traces = g_ptr_array_new_with_free_func(g_free);
	carve.copy = g_malloc(COPY_SIZE);
	if (mkdir(scratch, 0700) != 0)
		good = fail(&carve, scratch);
	for (size_t i = 0; good && i < count; i++)
		good = carve_packet(&carve, &packets[i]);
	g_free(carve.copy);
	if (good)
		drop_empty(carve.traces);
	else
		g_clear_pointer(&carve.traces, g_ptr_array_unref);
	return carve.traces;
}

bool relay_carve_is_of(const struct stream_key *key, const char *trace)
{
	char name[64];

	snprintf(name, sizeof(name), "/%" G_GUINT64_FORMAT "-%" G_GUINT32_FORMAT, key->user, key->bits);
	return g_str_has_suffix(trace, name);
}

static void remove_trace(const char *trace)
{
	GDir *list = g_dir_open(trace, 0, NULL);
	const char *name;

	while (list && (name = g_dir_read_name(list))) {
		g_autofree char *path = g_build_filename(trace, name, NULL);

		unlink(path);
	}
	if (list)
		g_dir_close(list);
	rmdir(trace);
}

void relay_carve_remove(const char *scratch)
{
	GDir *list = g_dir_open(scratch, 0, NULL);
	const char *name;

	while (list && (name = g_dir_read_name(list))) {
		g_autofree char *path = g_build_filename(scratch, name, NULL);

		remove_trace(path);
	}
	if (list)
		g_dir_close(list);
	rmdir(scratch);
}
