/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/spoolcounts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include <glib.h>
#include <isa-l/crc.h>

#include "base/regularfile.h"

#define MAGIC "BLKtally"
#define FIELDS 6
/* Bits of an identity that are not kept elsewhere: what is left is a row's amount. */
#define CUT 12

/* A slot as it stands in the file: little-endian. */
struct packed {
	char magic[8];
	uint64_t field[FIELDS];
	uint32_t sum, unused;
};

static void pack(uint64_t field[FIELDS], const struct spool_counts *counts)
{
	const uint64_t values[FIELDS] = {counts->identity, counts->sequence, (uint64_t)counts->first,
		(uint64_t)counts->next, (uint64_t)counts->batches, (uint64_t)counts->spans};

	for (int i = 0; i < FIELDS; i++)
		field[i] = GUINT64_TO_LE(values[i]);
}

static uint32_t sum_of(const uint64_t field[FIELDS])
{
	return crc32_gzip_refl(0, (const void *)field, FIELDS * sizeof(*field));
}

uint32_t spool_counts_sum(const struct spool_counts *counts)
{
	uint64_t field[FIELDS];

	pack(field, counts);
	return sum_of(field);
}

uint64_t spool_counts_cut(uint64_t identity)
{
	return identity >> CUT | 1;
}

struct stored spool_counts_tell(const struct spool_counts *counts)
{
	return (struct stored){{(int64_t)spool_counts_cut(counts->identity), (int64_t)counts->sequence,
		counts->first, counts->next, counts->batches, counts->spans}};
}

struct spool_counts spool_counts_told(const struct stored *stored)
{
	const int64_t *number = stored->number;

	return (struct spool_counts){.identity = (uint64_t)number[0],
		.sequence = (uint64_t)number[1],
		.first = number[2],
		.next = number[3],
		.batches = number[4],
		.spans = number[5]};
}

static bool unpack(struct spool_counts *counts, const struct packed *packed)
{
	uint64_t value[FIELDS];

	if (memcmp(packed->magic, MAGIC, sizeof(packed->magic)) != 0 ||
		GUINT32_FROM_LE(packed->sum) != sum_of(packed->field))
		return false;
	for (int i = 0; i < FIELDS; i++)
		value[i] = GUINT64_FROM_LE(packed->field[i]);
	*counts = (struct spool_counts){
		.identity = value[0],
		.sequence = value[1],
		.first = (int64_t)value[2],
		.next = (int64_t)value[3],
		.batches = (int64_t)value[4],
		.spans = (int64_t)value[5],
	};
	return counts->first >= 0 && counts->next >= counts->first && counts->batches >= 0 &&
	       counts->spans >= 0;
}

/* A slot's data is the slot itself: unpack looks at all of it. */
static bool open_slot(const uint8_t *bytes, size_t size, struct slot *slot, char *why, size_t why_size)
{
	struct packed packed;
	struct spool_counts counts;

	g_strlcpy(why, "it is damaged", why_size);
	if (size != sizeof(packed))
		return false;
	memcpy(&packed, bytes, sizeof(packed));
	if (!unpack(&counts, &packed))
		return false;
	*slot = (struct slot){counts.sequence, bytes, size};
	return true;
}

static void use(struct spool_counts_file *file, int descriptor)
{
	file->file = descriptor;
	file->slots = (struct twoslots){
		.file = {descriptor, descriptor},
		.at = {0, sizeof(struct packed)},
		.size = sizeof(struct packed),
	};
}

bool spool_counts_open(struct spool_counts_file *file, const char *path, char *error, size_t size)
{
	use(file, regularfile_open(path, O_RDWR | O_CREAT, 0600));
	if (file->file < 0) {
		snprintf(error, size, "cannot open %s: %s", path, regularfile_error(errno));
		return false;
	}
	if (flock(file->file, LOCK_EX | LOCK_NB) == 0)
		return true;
	if (errno == EWOULDBLOCK)
		snprintf(error, size, "%s is in use: another agent has this `state-directory`", path);
	else
		snprintf(error, size, "cannot lock %s: %s", path, g_strerror(errno));
	spool_counts_close(file);
	return false;
}

void spool_counts_close(struct spool_counts_file *file)
{
	if (file->file >= 0)
		close(file->file);
	file->file = -1;
}

bool spool_counts_read(struct spool_counts_file *file, struct spool_counts *counts)
{
	struct buffer data = {0};
	struct packed packed;
	char why[64];
	bool found = twoslots_read(&file->slots, open_slot, &data, why, sizeof(why)) == TWOSLOTS_FOUND;

	if (found) {
		memcpy(&packed, data.data, sizeof(packed));
		unpack(counts, &packed);
	}
	buffer_free(&data);
	return found;
}

bool spool_counts_look(const char *path, struct spool_counts *counts)
{
	struct spool_counts_file file;
	bool found;

	use(&file, regularfile_open(path, O_RDONLY, 0));
	found = file.file >= 0 && spool_counts_read(&file, counts);
	spool_counts_close(&file);
	return found;
}

bool spool_counts_write(struct spool_counts_file *file, const struct spool_counts *counts, bool sync)
{
	struct packed packed = {0};
	const struct buffer bytes = {(uint8_t *)&packed, sizeof(packed), sizeof(packed)};
	int code;

	memcpy(packed.magic, MAGIC, sizeof(packed.magic));
	pack(packed.field, counts);
	packed.sum = GUINT32_TO_LE(sum_of(packed.field));
	code = twoslots_write(&file->slots, counts->sequence, &bytes, sync);
	errno = code;
	return code == 0;
}
