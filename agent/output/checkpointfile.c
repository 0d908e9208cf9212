/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/checkpointfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>
#include <isa-l/crc.h>

#include "base/pack.h"
#include "base/twoslots.h"

#define MAGIC UINT64_C(0x426c6b4b696e4350) /* "BlkKinCP" */
#define VERSION 1
/* magic, version, number, size, CRC of all that and of the data */
#define HEADER_SIZE (8 + 4 + 8 + 8 + 4)

struct checkpoint_file {
	struct twoslots slots;
	char *folder, *name;
	struct buffer out; /* what is written */
};

static uint32_t crc_of(const uint8_t *header, const void *data, size_t size)
{
	uint32_t crc = crc32_gzip_refl(0, header, HEADER_SIZE - 4);

	return crc32_gzip_refl(crc, data, size);
}

static void close_files(int files[TWOSLOTS])
{
	for (int i = 0; i < TWOSLOTS; i++)
		if (files[i] >= 0)
			close(files[i]);
}

/* Opens both, and locks the first one. Returns 0, or errno with none open: EWOULDBLOCK, if another agent has
 * them. */
static int open_files(const struct checkpoint_file *checkpoint, int files[TWOSLOTS])
{
	int directory, i = 0, code = 0;

	for (int each = 0; each < TWOSLOTS; each++)
		files[each] = -1;
	mkdir(checkpoint->folder, 0750); /* if it cannot be made, opening tells why */
	directory = open(checkpoint->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	while (directory >= 0 && i < TWOSLOTS) {
		g_autofree char *slot = g_strdup_printf("%s.%d", checkpoint->name, i);

		files[i] = openat(directory, slot, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
		if (files[i] < 0)
			break;
		i++;
	}
	if (i < TWOSLOTS || flock(files[0], LOCK_EX | LOCK_NB) != 0)
		code = errno;
	if (directory >= 0)
		close(directory);
	if (code)
		close_files(files);
	return code;
}

struct checkpoint_file *checkpoint_file_open_as(
	const char *name, const char *folder, bool *locked, char *error, size_t error_size)
{
	struct checkpoint_file *checkpoint = g_new0(struct checkpoint_file, 1);
	int code;

	checkpoint->folder = g_strdup(folder);
	checkpoint->name = g_strdup(name);
	code = open_files(checkpoint, checkpoint->slots.file);
	*locked = code == EWOULDBLOCK;
	if (!code)
		return checkpoint;
	if (*locked)
		snprintf(error, error_size,
			"another blkin-agent runs with `state-directory` %s: stop it, or give this one "
			"another in [agent]",
			folder);
	else
		snprintf(error, error_size, "`state-directory` %s of [agent] cannot be used: %s", folder,
			g_strerror(code));
	for (int i = 0; i < TWOSLOTS; i++)
		checkpoint->slots.file[i] = -1;
	checkpoint_file_close(checkpoint);
	return NULL;
}

struct checkpoint_file *checkpoint_file_open(const char *folder, bool *locked, char *error, size_t error_size)
{
	return checkpoint_file_open_as("checkpoint", folder, locked, error, error_size);
}

static bool open_slot(const uint8_t *bytes, size_t size, struct slot *slot, char *why, size_t why_size)
{
	struct unpacker from = unpacker_of(bytes, size);
	uint64_t magic = unpack_u64(&from);
	uint32_t version = unpack_u32(&from), crc;

	snprintf(why, why_size, "it is damaged");
	if (size < HEADER_SIZE || magic != MAGIC)
		return false;
	if (version != VERSION) {
		snprintf(why, why_size, "its version is %u, and this agent's is %u", version, VERSION);
		return false;
	}
	slot->number = unpack_u64(&from);
	slot->size = unpack_u64(&from);
	slot->data = bytes + HEADER_SIZE;
	crc = unpack_u32(&from);
	/* The file may be longer: it shrinks now and then only. */
	return slot->size <= size - HEADER_SIZE && crc == crc_of(bytes, slot->data, slot->size);
}

enum checkpoint_file_state checkpoint_file_read(
	struct checkpoint_file *checkpoint, struct buffer *data, char *error, size_t error_size)
{
	switch (twoslots_read(&checkpoint->slots, open_slot, data, error, error_size)) {
	case TWOSLOTS_FOUND:
		return CHECKPOINT_FOUND;
	case TWOSLOTS_BROKEN:
		return CHECKPOINT_BROKEN;
	default:
		return CHECKPOINT_NONE;
	}
}

uint64_t checkpoint_file_number(const struct checkpoint_file *checkpoint)
{
	return checkpoint->slots.number;
}

/* Whoever removes files under an agent does not stop it from writing; but the next one would find nothing. So
 * they are made anew. */
static int find_again(struct checkpoint_file *checkpoint)
{
	int files[TWOSLOTS], code;
	struct stat stat;

	if (fstat(checkpoint->slots.file[checkpoint->slots.next], &stat) != 0 || stat.st_nlink > 0)
		return 0;
	/* the lock of one that is still there must not be in the way of its own */
	flock(checkpoint->slots.file[0], LOCK_UN);
	code = open_files(checkpoint, files);
	if (code) {
		flock(checkpoint->slots.file[0], LOCK_EX | LOCK_NB);
		return code;
	}
	close_files(checkpoint->slots.file);
	memcpy(checkpoint->slots.file, files, sizeof(files));
	return 0;
}

/* A file stays as long as it was unless that is much too long, so that it does not grow and shrink all the
 * time. */
static int shrink(int file, size_t size)
{
	struct stat stat;

	if (fstat(file, &stat) != 0 || (size_t)stat.st_size <= 4 * size)
		return 0;
	return ftruncate(file, (off_t)size) == 0 ? 0 : errno;
}

int checkpoint_file_write(struct checkpoint_file *checkpoint, const void *data, size_t size, bool sync)
{
	struct twoslots *slots = &checkpoint->slots;
	struct buffer *out = &checkpoint->out;
	int code;

	out->size = 0;
	pack_u64(out, MAGIC);
	pack_u32(out, VERSION);
	pack_u64(out, slots->number + 1);
	pack_u64(out, size);
	pack_u32(out, crc_of(out->data, data, size));
	buffer_put(out, data, size);
	code = find_again(checkpoint);
	if (!code)
		code = shrink(slots->file[slots->next], out->size);
	if (!code)
		code = twoslots_write(slots, slots->number + 1, out, sync);
	buffer_empty(out, CHECKPOINT_KEPT_SIZE);
	return code;
}

int checkpoint_file_remove(struct checkpoint_file *checkpoint)
{
	int code = 0;

	for (int i = 0; i < TWOSLOTS; i++)
		if (ftruncate(checkpoint->slots.file[i], 0) != 0)
			code = errno;
	return code;
}

void checkpoint_file_close(struct checkpoint_file *checkpoint)
{
	close_files(checkpoint->slots.file);
	g_free(checkpoint->folder);
	g_free(checkpoint->name);
	buffer_free(&checkpoint->out);
	g_free(checkpoint);
}
