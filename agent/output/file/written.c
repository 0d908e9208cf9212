/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/file/written.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <isa-l/crc.h>

#include "base/buffer.h"
#include "base/regularfile.h"

#define MAGIC UINT32_C(0x424b7772)
/* A record is no longer than this; when it is, another one is begun, and the one before stays beside it. */
#define SIZE_MAX_RECORD (1024 * 1024)
#define COUNT_MAX 1000000

/* A record, before its identities; in this machine's order, as it stays here. */
struct head {
	uint32_t magic;
	uint32_t crc; /* of what follows, and of the identities */
	uint64_t inode;
	int64_t begun;
	uint32_t number;
	uint32_t count;
	int64_t offset;
};

struct record {
	struct head head;
	uint64_t identities[];
};

static uint32_t crc_of(const struct head *head, const uint64_t *identities)
{
	size_t skipped = G_STRUCT_OFFSET(struct head, inode);
	uint32_t crc = crc32_gzip_refl(0, (const unsigned char *)head + skipped, sizeof(*head) - skipped);

	return crc32_gzip_refl(crc, (const void *)identities, head->count * sizeof(*identities));
}

static bool same_file(const struct head *one, const struct head *other)
{
	return one->inode == other->inode && one->begun == other->begun && one->number == other->number;
}

void written_init(struct written *written, const char *path)
{
	*written = (struct written){.path = g_strdup(path), .fd = -1};
}

void written_free(struct written *written)
{
	if (written->fd >= 0)
		close(written->fd);
	if (written->open)
		g_ptr_array_unref(written->open);
	g_free(written->path);
	*written = (struct written){.fd = -1};
}

/* Reading */

static void add(struct known *known, const struct record *record, uint32_t count)
{
	for (uint32_t i = 0; i < MIN(count, record->head.count); i++)
		known_add(known, record->identities[i]);
}

/* The record is followed by @head of the same file, which says what became of its lines. */
static void conclude(struct written *written, const struct head *head, struct known *known)
{
	for (guint i = 0; i < written->open->len; i++) {
		const struct record *record = g_ptr_array_index(written->open, i);

		if (!same_file(&record->head, head))
			continue;
		if (head->offset > record->head.offset)
			add(known, record, UINT32_MAX);
		g_ptr_array_remove_index(written->open, i);
		return;
	}
}

/* Takes the next record; false if there is none that is whole. */
static bool take(struct written *written, const uint8_t **at, const uint8_t *end, struct known *known)
{
	struct record *record;
	struct head head;
	size_t size;

	if ((size_t)(end - *at) < sizeof(head))
		return false;
	memcpy(&head, *at, sizeof(head));
	size = head.count * sizeof(uint64_t);
	if (head.magic != MAGIC || head.count > COUNT_MAX || (size_t)(end - *at) - sizeof(head) < size)
		return false;
	record = g_malloc(sizeof(*record) + size);
	memcpy(record, *at, sizeof(head) + size);
	*at += sizeof(head) + size;
	if (head.crc != crc_of(&record->head, record->identities)) {
		g_free(record);
		return false;
	}
	conclude(written, &record->head, known);
	if (head.count)
		g_ptr_array_add(written->open, record);
	else
		g_free(record);
	return true;
}

static char *before(const struct written *written)
{
	return g_strconcat(written->path, ".old", NULL);
}

/* Without a record, or one that says too much, spans come twice, or are lost: the former is better. */
static void give_up(struct written *written)
{
	g_autofree char *old = before(written);

	close(written->fd);
	written->fd = -1;
	unlink(old);
	unlink(written->path);
}

/* Returns how much of it is whole: what was being added when the agent died is not. */
static int64_t read_file(struct written *written, const char *path, struct known *known)
{
	struct buffer bytes = {0};
	const uint8_t *at;
	int64_t whole = 0;

	if (regularfile_read(path, &bytes) == 0) {
		at = bytes.data;
		while (take(written, &at, bytes.data + bytes.size, known))
			;
		whole = at - bytes.data;
	}
	buffer_free(&bytes);
	return whole;
}

void written_load(struct written *written, struct known *known)
{
	g_autofree char *old = NULL;

	if (!written->path || written->open)
		return;
	written->open = g_ptr_array_new_with_free_func(g_free);
	known_begin(known);
	old = before(written);
	read_file(written, old, known);
	written->size = read_file(written, written->path, known);
	written->fd = regularfile_open(written->path, O_WRONLY | O_CREAT, 0640);
	if (written->fd >= 0 && ftruncate(written->fd, written->size) != 0)
		give_up(written);
}

/* Writing */

static void begin_another(struct written *written)
{
	g_autofree char *old = before(written);

	if (rename(written->path, old) != 0)
		return;
	close(written->fd);
	written->size = 0;
	written->fd = regularfile_open(written->path, O_WRONLY | O_CREAT, 0640);
}

static void put(struct written *written, struct head *head, const uint64_t *identities)
{
	struct iovec pieces[2] = {
		{head, sizeof(*head)}, {(void *)(uintptr_t)identities, head->count * sizeof(*identities)}};
	int64_t size = (int64_t)(pieces[0].iov_len + pieces[1].iov_len);

	if (written->size + size > SIZE_MAX_RECORD && written->size)
		begin_another(written);
	if (written->fd < 0)
		return;
	head->crc = crc_of(head, identities);
	if (pwritev(written->fd, pieces, head->count ? 2 : 1, written->size) == size)
		written->size += size;
	else
		give_up(written);
}

static struct head head_of(const struct partfile *part, int64_t offset)
{
	return (struct head){
		.magic = MAGIC,
		.inode = part->inode,
		.begun = part->name.begun,
		.number = part->name.number,
		.offset = offset,
	};
}

/* The file has only so many of the lines: another record, which takes the place of this one, says so to the
 * next agent, too. For it, the end of the file would mean that it has them all. */
static void narrow(struct written *written, const struct record *record, uint32_t lines)
{
	struct head head = record->head;

	if (lines >= head.count || !lines || written->fd < 0)
		return;
	head.count = lines;
	put(written, &head, record->identities);
}

void written_find(struct written *written, const struct partfile *part, struct known *known)
{
	struct head of = head_of(part, part->size);

	for (guint i = 0; written->open && i < written->open->len; i++) {
		const struct record *record = g_ptr_array_index(written->open, i);
		uint32_t lines;

		if (!same_file(&record->head, &of))
			continue;
		lines = (uint32_t)partfile_count_lines(part, record->head.offset, part->size);
		add(known, record, lines);
		narrow(written, record, lines);
		g_ptr_array_remove_index(written->open, i);
		break;
	}
}

void written_begin(
	struct written *written, const struct partfile *part, const uint64_t *identities, uint32_t count)
{
	struct head head = head_of(part, part->size);

	if (written->fd < 0 || !count || count > COUNT_MAX)
		return;
	head.count = count;
	put(written, &head, identities);
}

void written_end(struct written *written, const struct partfile *part, int64_t size)
{
	struct head head = head_of(part, size);

	if (written->fd >= 0)
		put(written, &head, NULL);
}
