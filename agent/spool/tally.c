/* SPDX-License-Identifier: BSD-2-Clause */
#include "spool/tally.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <glib.h>
#include <zlib.h>

#define MAGIC "BLKtally"
#define FIELDS 6

/* A slot as it stands in the file: little-endian. */
struct slot {
	char magic[8];
	uint64_t field[FIELDS];
	uint32_t sum, unused;
};

static void pack(uint64_t field[FIELDS], const struct tally *tally)
{
	const uint64_t values[FIELDS] = {tally->identity, tally->sequence, (uint64_t)tally->first,
		(uint64_t)tally->next, (uint64_t)tally->batches, (uint64_t)tally->spans};

	for (int i = 0; i < FIELDS; i++)
		field[i] = GUINT64_TO_LE(values[i]);
}

static uint32_t sum_of(const uint64_t field[FIELDS])
{
	return (uint32_t)crc32(0, (const Bytef *)field, FIELDS * sizeof(*field));
}

uint32_t tally_sum(const struct tally *tally)
{
	uint64_t field[FIELDS];

	pack(field, tally);
	return sum_of(field);
}

static bool unpack(struct tally *tally, const struct slot *slot)
{
	uint64_t value[FIELDS];

	if (memcmp(slot->magic, MAGIC, sizeof(slot->magic)) != 0 ||
		GUINT32_FROM_LE(slot->sum) != sum_of(slot->field))
		return false;
	for (int i = 0; i < FIELDS; i++)
		value[i] = GUINT64_FROM_LE(slot->field[i]);
	*tally = (struct tally){value[0], value[1], (int64_t)value[2], (int64_t)value[3], (int64_t)value[4],
		(int64_t)value[5]};
	return tally->first >= 0 && tally->next >= tally->first && tally->batches >= 0 && tally->spans >= 0;
}

int tally_open(const char *path, char *error, size_t size)
{
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (file < 0) {
		snprintf(error, size, "cannot open %s: %s", path, g_strerror(errno));
		return -1;
	}
	if (flock(file, LOCK_EX | LOCK_NB) == 0)
		return file;
	if (errno == EWOULDBLOCK)
		snprintf(error, size, "%s is in use: another agent has this `state-directory`", path);
	else
		snprintf(error, size, "cannot lock %s: %s", path, g_strerror(errno));
	close(file);
	return -1;
}

bool tally_read(int file, struct tally *tally)
{
	struct tally each;
	struct slot slot;
	bool found = false;

	for (int i = 0; i < 2; i++) {
		if (pread(file, &slot, sizeof(slot), i * (off_t)sizeof(slot)) != sizeof(slot) ||
			!unpack(&each, &slot) || (found && each.sequence < tally->sequence))
			continue;
		*tally = each;
		found = true;
	}
	return found;
}

bool tally_write(int file, const struct tally *tally, bool sync)
{
	off_t at = (off_t)(tally->sequence & 1) * (off_t)sizeof(struct slot);
	struct slot slot = {.magic = MAGIC};

	pack(slot.field, tally);
	slot.sum = GUINT32_TO_LE(sum_of(slot.field));
	return pwrite(file, &slot, sizeof(slot), at) == sizeof(slot) && (!sync || fdatasync(file) == 0);
}
