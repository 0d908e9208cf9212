/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/twoslots.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

/* The largest slot: a larger file is something else. */
#define SIZE_MAX_READ (UINT64_C(1) << 32)

/* How many bytes can be read; 0 for an empty slot. */
static uint64_t size_of(const struct twoslots *slots, unsigned i)
{
	struct stat file;
	uint64_t size;

	if (fstat(slots->file[i], &file) != 0 || file.st_size <= slots->at[i])
		return 0;
	size = (uint64_t)(file.st_size - slots->at[i]);
	return slots->size ? MIN(size, slots->size) : size;
}

static bool read_bytes(const struct twoslots *slots, unsigned i, uint64_t size, struct buffer *bytes)
{
	bytes->size = 0;
	if (size > SIZE_MAX_READ)
		return false;
	buffer_reserve(bytes, (size_t)size);
	while (bytes->size < size) {
		ssize_t got = pread(slots->file[i], bytes->data + bytes->size, (size_t)size - bytes->size,
			slots->at[i] + (off_t)bytes->size);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		bytes->size += (size_t)got;
	}
	return true;
}

enum twoslots_state twoslots_read(
	struct twoslots *slots, twoslots_layout *layout, struct buffer *data, char *why, size_t why_size)
{
	enum twoslots_state state = TWOSLOTS_NONE;
	struct buffer bytes = {0};

	slots->next = 0;
	for (unsigned i = 0; i < TWOSLOTS; i++) {
		uint64_t size = size_of(slots, i);
		struct slot slot = {0};

		if (size == 0)
			continue;
		snprintf(why, why_size, "it cannot be read");
		if (!read_bytes(slots, i, size, &bytes) ||
			!layout(bytes.data, bytes.size, &slot, why, why_size)) {
			if (state == TWOSLOTS_NONE)
				state = TWOSLOTS_BROKEN;
			continue;
		}
		if (state == TWOSLOTS_FOUND && slot.number <= slots->number)
			continue;
		state = TWOSLOTS_FOUND;
		slots->number = slot.number;
		slots->next = (i + 1) % TWOSLOTS;
		data->size = 0;
		buffer_put(data, slot.data, slot.size);
	}
	buffer_free(&bytes);
	return state;
}

static int write_bytes(int file, off_t at, const struct buffer *bytes)
{
	size_t done = 0;

	while (done < bytes->size) {
		ssize_t put = pwrite(file, bytes->data + done, bytes->size - done, at + (off_t)done);

		if (put < 0 && errno != EINTR)
			return errno;
		if (put > 0)
			done += (size_t)put;
	}
	return 0;
}

int twoslots_write(struct twoslots *slots, uint64_t number, const struct buffer *bytes, bool sync)
{
	int file = slots->file[slots->next];
	int code = write_bytes(file, slots->at[slots->next], bytes);

	if (code == 0 && sync && fdatasync(file) != 0)
		code = errno;
	if (code != 0)
		return code;
	slots->number = number;
	slots->next = (slots->next + 1) % TWOSLOTS;
	return 0;
}
