/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>
#include <zlib.h>

#include "base/pack.h"

#define SLOTS 2
#define MAGIC UINT64_C(0x426c6b4b696e4350) /* "BlkKinCP" */
#define VERSION 1
/* magic, version, number, size, CRC of all that and of the data */
#define HEADER_SIZE (8 + 4 + 8 + 8 + 4)
/* No checkpoint is larger: what says so is broken. */
#define SIZE_MAX_READ (UINT64_C(1) << 32)

struct checkpoint {
	int file[SLOTS];
	uint64_t number; /* of what was written last */
	unsigned next;   /* the slot to write */
	struct buffer out;
};

static const char *const names[SLOTS] = {"checkpoint.0", "checkpoint.1"};

static uint32_t crc_of(const uint8_t *header, const void *data, size_t size)
{
	uLong crc = crc32_z(0, header, HEADER_SIZE - 4);

	return (uint32_t)crc32_z(crc, data, size);
}

static bool open_files(struct checkpoint *checkpoint, const char *folder, char *error, size_t error_size)
{
	int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int i = 0;

	while (directory >= 0 && i < SLOTS) {
		checkpoint->file[i] =
			openat(directory, names[i], O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
		if (checkpoint->file[i] < 0)
			break;
		i++;
	}
	if (i < SLOTS)
		snprintf(error, error_size, "`state-directory` %s of [agent] cannot be used: %s", folder,
			g_strerror(errno));
	if (directory >= 0)
		close(directory);
	return i == SLOTS;
}

struct checkpoint *checkpoint_open(const char *folder, bool *locked, char *error, size_t error_size)
{
	struct checkpoint *checkpoint = g_new0(struct checkpoint, 1);

	for (int i = 0; i < SLOTS; i++)
		checkpoint->file[i] = -1;
	*locked = false;
	mkdir(folder, 0750); /* if it cannot be made, opening tells why */
	if (!open_files(checkpoint, folder, error, error_size))
		goto failed;
	if (flock(checkpoint->file[0], LOCK_EX | LOCK_NB) != 0) {
		*locked = true;
		snprintf(error, error_size,
			"another blkin-agent runs with `state-directory` %s: stop it, or give this one "
			"another "
			"in [agent]",
			folder);
		goto failed;
	}
	return checkpoint;
failed:
	checkpoint_close(checkpoint);
	return NULL;
}

static bool read_whole(int file, size_t size, struct buffer *data)
{
	size_t done = 0;

	data->size = 0;
	buffer_reserve(data, size + 1);
	while (done < size) {
		ssize_t got = pread(file, data->data + done, size - done, (off_t)done);

		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	data->size = size;
	return true;
}

/*
 * Reads the checkpoint in a slot: the data into @data, its number into @number. In @error why it cannot be.
 */
static enum checkpoint_state read_slot(
	int file, struct buffer *data, uint64_t *number, char *error, size_t error_size)
{
	struct buffer whole = {0};
	struct unpacker from;
	struct stat stat;
	uint32_t version;
	uint64_t size;
	enum checkpoint_state state = CHECKPOINT_BROKEN;

	if (fstat(file, &stat) != 0 || stat.st_size == 0)
		return CHECKPOINT_NONE;
	snprintf(error, error_size, "it is damaged");
	if (stat.st_size < HEADER_SIZE || (uint64_t)stat.st_size > SIZE_MAX_READ ||
		!read_whole(file, (size_t)stat.st_size, &whole))
		goto out;
	from = unpacker_of(whole.data, whole.size);
	if (unpack_u64(&from) != MAGIC)
		goto out;
	version = unpack_u32(&from);
	if (version != VERSION) {
		snprintf(error, error_size, "it is of version %u, and this agent's is %u", version, VERSION);
		goto out;
	}
	*number = unpack_u64(&from);
	size = unpack_u64(&from);
	if (size > whole.size - HEADER_SIZE ||
		unpack_u32(&from) != crc_of(whole.data, whole.data + HEADER_SIZE, (size_t)size))
		goto out;
	data->size = 0;
	buffer_put(data, whole.data + HEADER_SIZE, (size_t)size);
	state = CHECKPOINT_FOUND;
out:
	buffer_free(&whole);
	return state;
}

enum checkpoint_state checkpoint_read(
	struct checkpoint *checkpoint, struct buffer *data, char *error, size_t error_size)
{
	enum checkpoint_state best = CHECKPOINT_NONE;
	struct buffer slot = {0};

	checkpoint->next = 0;
	for (unsigned i = 0; i < SLOTS; i++) {
		uint64_t number = 0;
		enum checkpoint_state state =
			read_slot(checkpoint->file[i], &slot, &number, error, error_size);

		if (state == CHECKPOINT_FOUND && (best != CHECKPOINT_FOUND || number > checkpoint->number)) {
			checkpoint->number = number;
			checkpoint->next = (i + 1) % SLOTS;
			data->size = 0;
			buffer_put(data, slot.data, slot.size);
			best = CHECKPOINT_FOUND;
		} else if (state == CHECKPOINT_BROKEN && best == CHECKPOINT_NONE) {
			best = CHECKPOINT_BROKEN;
		}
	}
	buffer_free(&slot);
	return best;
}

static int write_whole(int file, const uint8_t *data, size_t size)
{
	size_t done = 0;

	while (done < size) {
		ssize_t put = pwrite(file, data + done, size - done, (off_t)done);

		if (put < 0 && errno != EINTR)
			return errno;
		if (put > 0)
			done += (size_t)put;
	}
	return 0;
}

int checkpoint_write(struct checkpoint *checkpoint, const void *data, size_t size, bool sync)
{
	struct buffer *out = &checkpoint->out;
	int file = checkpoint->file[checkpoint->next], code;
	struct stat stat;

	out->size = 0;
	pack_u64(out, MAGIC);
	pack_u32(out, VERSION);
	pack_u64(out, checkpoint->number + 1);
	pack_u64(out, size);
	pack_u32(out, crc_of(out->data, data, size));
	buffer_put(out, data, size);
	code = write_whole(file, out->data, out->size);
	/* a large one stays as long as it was, for a while, so that the file need not grow and shrink all the
	 * time */
	if (code == 0 && fstat(file, &stat) == 0 && (size_t)stat.st_size > 4 * out->size &&
		ftruncate(file, (off_t)out->size) != 0)
		code = errno;
	if (code == 0 && sync && fdatasync(file) != 0)
		code = errno;
	if (code != 0)
		return code;
	checkpoint->number++;
	checkpoint->next = (checkpoint->next + 1) % SLOTS;
	return 0;
}

int checkpoint_remove(struct checkpoint *checkpoint)
{
	int code = 0;

	for (int i = 0; i < SLOTS; i++)
		if (ftruncate(checkpoint->file[i], 0) != 0)
			code = errno;
	return code;
}

void checkpoint_close(struct checkpoint *checkpoint)
{
	for (int i = 0; i < SLOTS; i++)
		if (checkpoint->file[i] >= 0)
			close(checkpoint->file[i]);
	buffer_free(&checkpoint->out);
	g_free(checkpoint);
}
