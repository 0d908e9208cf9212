/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The identities of the spans that an output has written into files, the latest of them, on record in a file
 * of the state directory: whatever becomes of the agent, a span that comes again is known, also when its line
 * would be another one, as its tags or its format have changed.
 *
 * Identities go on record before their lines are written, with the place where these begin. That lines were
 * written is said by the next record of the same file, which begins behind them, or by its end; of what was
 * written last before a crash, by the file itself. So a span that is in no file is never taken for one that
 * is. A kill loses nothing of this; a crash of the machine may.
 */
#ifndef OUTPUT_FILE_WRITTEN_H
#define OUTPUT_FILE_WRITTEN_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "output/file/known.h"
#include "output/file/partfile.h"

struct written {
	char *path; /* NULL: there is no record */
	int fd;     /* -1: it is not open */
	int64_t size;
	GPtrArray *open; /* records of which nothing says yet whether their lines were written; NULL: none
			    were read */
};

/* @path may be NULL; it is copied. Does nothing yet. */
void written_init(struct written *written, const char *path);
void written_free(struct written *written);

/* Opens the record, and adds what it has to @known, which is to be sorted then. */
void written_load(struct written *written, struct known *known);

/* Of a file that was left behind, and of which the record does not know the end. */
void written_find(struct written *written, const struct partfile *part, struct known *known);

/* The lines of these are about to be added to the file. */
void written_begin(
	struct written *written, const struct partfile *part, const uint64_t *identities, uint32_t count);

/* The file has all that was to be added before @size, and nothing behind it. */
void written_end(struct written *written, const struct partfile *part, int64_t size);

#endif
