/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/file/filewriter.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/clock.h"

/* So long after the last line that was there already, none is expected any more. */
#define KNOWN_NS (300 * NS_PER_SECOND)

void filewriter_init(struct filewriter *writer, const struct filewriter_options *options)
{
	*writer = (struct filewriter){
		.options = *options, .folder = -1, .part = {.fd = -1, .name.lines = options->lines}};
	writer->options.directory = writer->directory = g_strdup(options->directory);
	writer->took_up = !options->take_up;
	written_init(&writer->written, options->record);
	writer->options.record = NULL;
}

static int fail(struct filewriter *writer, const char *what, int error)
{
	if (error)
		snprintf(writer->error, sizeof(writer->error), "%s %s: %s", what, writer->directory,
			g_strerror(error));
	return error;
}

/* The directory */

static void leave(struct filewriter *writer)
{
	partfile_close(&writer->part);
	if (writer->folder >= 0)
		close(writer->folder);
	writer->folder = -1;
	writer->since = 0;
	/* where the path leads to next, another agent may have been killed */
	writer->took_up = !writer->options.take_up;
}

/* Whether the path still leads to the folder that is open. */
static bool is_there(const struct filewriter *writer)
{
	struct stat now, opened;

	return stat(writer->directory, &now) == 0 && fstat(writer->folder, &opened) == 0 &&
	       now.st_dev == opened.st_dev && now.st_ino == opened.st_ino;
}

/* What somebody did to the part: of one that is gone, nobody can say where its lines are. */
static void look_after_part(struct filewriter *writer)
{
	struct partfile *part = &writer->part;

	if (part->fd < 0)
		return;
	if (partfile_is_gone(part)) {
		writer->lost += part->lines;
		writer->since = 0;
		partfile_close(part);
	} else {
		writer->lost += partfile_find_cut(part);
	}
}

static int open_folder(struct filewriter *writer)
{
	if (writer->folder >= 0)
		return 0;
	if (writer->options.make && g_mkdir_with_parents(writer->directory, 0750) != 0)
		return fail(writer, "cannot make the directory", errno);
	writer->folder = open(writer->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fail(writer, "cannot open the directory", writer->folder < 0 ? errno : 0);
}

static int take_up(struct filewriter *writer)
{
	const struct takeup_record record = {&writer->written, &writer->identities, &writer->part.name};
	int error;

	if (writer->took_up)
		return 0;
	written_load(&writer->written, &writer->identities);
	error = fail(writer, "cannot resume an unfinished file in",
		takeup(writer->folder, filelines_kind(writer->options.lines), &writer->known, &writer->left,
			&record));
	known_sort(&writer->identities);
	writer->took_up = !error;
	return error;
}

static int begin(struct filewriter *writer)
{
	int64_t now = clock_wall() / NS_PER_SECOND;

	writer->since = 0;
	return fail(writer, "cannot make a file in", partfile_create(&writer->part, writer->folder, now));
}

int filewriter_open(struct filewriter *writer)
{
	int error;

	look_after_part(writer);
	if (writer->folder >= 0 && !is_there(writer)) {
		/* where it was moved to, the file is a whole one */
		if (writer->part.fd >= 0)
			partfile_finish(&writer->part);
		leave(writer);
	}
	error = open_folder(writer);
	if (!error && writer->part.fd < 0)
		error = begin(writer);
	/* by then there is an unfinished file, for the next agent should this one be killed before it is done
	 */
	return error ? error : take_up(writer);
}

/* Rotation */

/* Removes the oldest of these files, while @total is too large: those of the @future, or the others. */
static void remove_oldest(struct filewriter *writer, const GArray *files, bool future, uint64_t *total)
{
	int64_t now = clock_wall() / NS_PER_SECOND;

	for (guint i = 0; i<files->len && * total> writer->options.total_size; i++) {
		const struct filename_found *file = &g_array_index(files, struct filename_found, i);
		char name[FILENAMES_SIZE];

		if ((file->name.begun > now) != future)
			continue;
		filename_print(&file->name, name);
		if (unlinkat(writer->folder, name, 0) == 0)
			writer->removed++;
		*total -= (uint64_t)file->size;
	}
}

/* The clock was set back since a file of the future was begun: whatever is begun now would be older. */
static void bound_total(struct filewriter *writer)
{
	GArray *files = writer->options.total_size
				? filenames_list(writer->folder, filelines_kind(writer->options.lines), false)
				: NULL;
	uint64_t total = 0;

	if (!files)
		return;
	for (guint i = 0; i < files->len; i++)
		total += (uint64_t)g_array_index(files, struct filename_found, i).size;
	remove_oldest(writer, files, true, &total);
	remove_oldest(writer, files, false, &total);
	g_array_unref(files);
}

static int finish(struct filewriter *writer, struct partfile *part)
{
	int error = fail(writer, "cannot finish a file in", partfile_finish(part));

	if (error)
		return error;
	written_end(&writer->written, part, part->size);
	bound_total(writer);
	return 0;
}

/* The next file is made before this one is finished, so that there is always an unfinished one. On a full
 * disk it may have to wait. */
int filewriter_rotate(struct filewriter *writer)
{
	struct partfile done = writer->part;
	int64_t since = writer->since;
	int error;

	begin(writer);
	error = finish(writer, &done);
	if (!error)
		return writer->part.fd < 0 ? begin(writer) : 0;
	if (writer->part.fd >= 0)
		partfile_finish(&writer->part);
	partfile_close(&writer->part);
	writer->part = done;
	writer->since = since;
	return error;
}

int64_t filewriter_due(const struct filewriter *writer)
{
	return writer->since && writer->options.rotate_ns ? writer->since + writer->options.rotate_ns
							  : INT64_MAX;
}

int filewriter_close(struct filewriter *writer, bool more)
{
	int error = 0;

	look_after_part(writer);
	if (writer->folder >= 0 && writer->part.fd >= 0 && is_there(writer)) {
		error = finish(writer, &writer->part);
		/* so that the next one knows these lines, too */
		if (!error && more && writer->known.lines)
			error = begin(writer);
	}
	leave(writer);
	return error;
}

void filewriter_free(struct filewriter *writer)
{
	leave(writer);
	known_clear(&writer->known);
	known_clear(&writer->identities);
	written_free(&writer->written);
	g_free(writer->directory);
}

/* Lines */

/* What is to be written, with its identities; and if lines may come again, its hashes and those of what is
 * there already. The batch itself may have a line twice, as what waits in the spool is merged: so identities
 * and hashes are noted at once. */
struct fresh {
	struct buffer lines;
	uint32_t count; /* of these lines */
	GArray *made, *taken, *identities;
	uint32_t noted;
};

static bool is_on_record(const struct filewriter *writer, uint64_t identity)
{
	return writer->identities.lines &&
	       (known_is_noted(&writer->identities, identity) || known_has(&writer->identities, identity));
}

static bool is_known(struct filewriter *writer, const uint8_t *item, size_t size, struct fresh *fresh)
{
	uint64_t hash;

	if (!writer->known.lines)
		return false;
	hash = known_hash(item, size);
	if (known_is_noted(&writer->known, hash)) {
		fresh->noted++;
		return true;
	}
	if (known_take(&writer->known, hash)) {
		g_array_append_val(fresh->taken, hash);
		return true;
	}
	g_array_append_val(fresh->made, hash);
	known_note(&writer->known, hash);
	return false;
}

static void add_identity(struct filewriter *writer, uint64_t identity, struct fresh *fresh)
{
	g_array_append_val(fresh->identities, identity);
	if (writer->identities.lines)
		known_note(&writer->identities, identity);
}

static void expect_known(struct known *known, bool found)
{
	int64_t now = clock_monotonic();

	if (!known->until || found)
		known->until = now + KNOWN_NS;
	else if (now > known->until)
		known_clear(known);
}

static void collect(struct filewriter *writer, const struct filewriter_lines *from, struct fresh *fresh)
{
	const uint8_t *item = from->items;

	for (uint32_t i = 0; i < from->count; item += from->sizes[i++]) {
		const uint64_t *identity = from->identities ? &from->identities[i] : NULL;

		if (!from->sizes[i])
			continue;
		if (identity && is_on_record(writer, *identity)) {
			fresh->noted++;
			continue;
		}
		if (is_known(writer, item, from->sizes[i], fresh))
			continue;
		if (identity)
			add_identity(writer, *identity, fresh);
		buffer_put(&fresh->lines, item, from->sizes[i]);
		buffer_put(&fresh->lines, "\n", 1);
		fresh->count++;
	}
}

static void note_all(struct known *known, const GArray *hashes)
{
	for (guint i = 0; i < hashes->len; i++)
		known_note(known, g_array_index(hashes, uint64_t, i));
}

static void forget_all(struct known *known, const GArray *hashes)
{
	for (guint i = 0; i < hashes->len; i++)
		known_forget(known, g_array_index(hashes, uint64_t, i));
}

/* All is written that was to be. */
static void remember(struct filewriter *writer, const struct fresh *fresh)
{
	bool found = fresh->taken->len + fresh->noted > 0;

	/* what is in a file and in the spool may come a third time, from what the session recorded */
	note_all(&writer->known, fresh->taken);
	if (writer->known.lines)
		expect_known(&writer->known, found);
	if (writer->identities.lines)
		expect_known(&writer->identities, found);
}

/* Nothing is. */
static void put_back(struct filewriter *writer, const struct fresh *fresh)
{
	for (guint i = 0; i < fresh->taken->len; i++)
		known_put_back(&writer->known, g_array_index(fresh->taken, uint64_t, i));
	forget_all(&writer->known, fresh->made);
	forget_all(&writer->identities, fresh->identities);
}

static int add(struct filewriter *writer, const struct fresh *fresh)
{
	const struct buffer *lines = &fresh->lines;
	int error = fail(writer, "cannot write a file in",
		partfile_append(
			&writer->part, lines->data, lines->size, fresh->count, writer->options.sync_each));

	/* of a file that was removed meanwhile, nobody will read this: these come again */
	if (!error && partfile_is_gone(&writer->part)) {
		writer->part.lines -= fresh->count;
		error = fail(writer, "somebody removed the file that was being written in", ENOENT);
	}
	return error;
}

static int append(struct filewriter *writer, const struct fresh *fresh)
{
	const struct buffer *lines = &fresh->lines;
	uint64_t size = (uint64_t)writer->part.size + lines->size;
	int64_t before;
	int error = 0;

	if (writer->part.size && writer->options.rotate_size && size > writer->options.rotate_size)
		error = filewriter_rotate(writer);
	if (error)
		return error;
	before = writer->part.size;
	written_begin(&writer->written, &writer->part, (const uint64_t *)(void *)fresh->identities->data,
		fresh->identities->len);
	error = add(writer, fresh);
	if (error)
		written_end(&writer->written, &writer->part, before);
	else if (!writer->since)
		writer->since = clock_monotonic();
	return error;
}

int filewriter_write(struct filewriter *writer, const struct filewriter_lines *lines, uint32_t *known)
{
	struct fresh fresh = {
		.made = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		.taken = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
		.identities = g_array_new(FALSE, FALSE, sizeof(uint64_t)),
	};
	int error = 0;

	collect(writer, lines, &fresh);
	if (fresh.lines.size)
		error = append(writer, &fresh);
	if (!error) {
		*known += fresh.taken->len + fresh.noted;
		remember(writer, &fresh);
	} else {
		put_back(writer, &fresh);
	}
	g_array_unref(fresh.made);
	g_array_unref(fresh.taken);
	g_array_unref(fresh.identities);
	buffer_free(&fresh.lines);
	return error;
}
