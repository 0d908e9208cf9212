/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes lines into files of a folder: one at a time, which is finished when it is large or old enough; the
 * oldest finished files are removed when all of them are too large.
 *
 * From the first line to filewriter_close there is always an unfinished file: where an agent finds one when
 * it starts, another one was killed. Calls that return an int return 0, or an errno with the writer's
 * `error`.
 */
#ifndef OUTPUT_FILE_FILEWRITER_H
#define OUTPUT_FILE_FILEWRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "output/file/known.h"
#include "output/file/partfile.h"
#include "output/file/takeup.h"
#include "output/file/written.h"

struct filewriter_options {
	const char *directory; /* absolute */
	enum filelines_are lines;
	bool make;          /* the directory, with those above it */
	bool take_up;       /* what an agent that was killed left there */
	const char *record; /* the path of written.h's; NULL: none */
	bool sync_each; /* each write is on disk when it returns; otherwise each file, when it is finished */
	uint64_t rotate_size; /* bytes of a file; 0: any */
	int64_t rotate_ns;    /* from a file's first line to its end; 0: any */
	uint64_t total_size;  /* bytes of all finished files; 0: any */
};

struct filewriter {
	struct filewriter_options options;
	char *directory; /* the options' */
	struct written written;
	struct known identities; /* that are on record */
	int folder;              /* -1: not open */
	bool took_up;
	struct takeup left; /* what was taken up */
	struct known known;
	struct partfile part;
	int64_t since;    /* the part has lines since then, CLOCK_MONOTONIC ns; 0: it has none */
	uint64_t removed; /* files, because there were too many */
	int64_t lost;     /* lines that were written, and that somebody removed from the part, or with it */
	char error[512];
};

/* The options are copied. Does nothing yet. */
void filewriter_init(struct filewriter *writer, const struct filewriter_options *options);

/* Makes sure that lines can be written: opens the directory, which may be another one than before, and a
 * file. Finds out whether the part is still there, and whole: what is lost with it is in `lost`. */
int filewriter_open(struct filewriter *writer);

/* Items that are lines: their bytes stand one after the other; each may have an identity. */
struct filewriter_lines {
	const uint8_t *items;
	const uint32_t *sizes;
	const uint64_t *identities; /* NULL: they are known by their lines alone */
	uint32_t count;
};

/* Writes a line for each, but for those that are known to be there; all, or none. After filewriter_open. How
 * many there were already is added to @known. */
int filewriter_write(struct filewriter *writer, const struct filewriter_lines *lines, uint32_t *known);

/* When the file is old enough, CLOCK_MONOTONIC ns; INT64_MAX: it has no lines. */
int64_t filewriter_due(const struct filewriter *writer);

/* Finishes the file, and goes on with another one. */
int filewriter_rotate(struct filewriter *writer);

/* Finishes the file. It stays unfinished, for the next start, if that cannot be done. With @more, some may
 * wait that come again after a crash: then an unfinished file without lines tells the next start of it. */
int filewriter_close(struct filewriter *writer, bool more);
void filewriter_free(struct filewriter *writer);

#endif
