/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines that are known to be in a file, by their hashes: after a crash, spans come again whose delivery was
 * not on record yet, and those are not written twice.
 *
 * The whole line is compared: a span of which a second part comes has the same ids, and is no duplicate.
 *
 * A span may also come twice that is in no file yet: from the spool, and made again from what the session
 * recorded, in one batch even. So lines that are written are noted, the latest of them.
 */
#ifndef OUTPUT_FILE_KNOWN_H
#define OUTPUT_FILE_KNOWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

struct known {
	GArray *lines; /* of struct known_line, sorted once known_sort was called; NULL: nothing comes again
			*/
	GHashTable *noted[2]; /* sets of hashes, the latest and those before; NULL: none */
	int64_t until; /* CLOCK_MONOTONIC ns: nothing known is expected any more; 0: that is not said yet */
};

uint64_t known_hash(const uint8_t *line, size_t size);

/* From now on, lines may come again. */
void known_begin(struct known *known);

/* Adds a line, as often as it is there; known_sort is due before anything is taken. */
void known_add(struct known *known, uint64_t hash);
void known_sort(struct known *known);

/* Whether the line is known; it is so once less from now on. known_put_back takes that back. */
bool known_take(struct known *known, uint64_t hash);
void known_put_back(struct known *known, uint64_t hash);

/* Whether it was added, however often. */
bool known_has(const struct known *known, uint64_t hash);

/* Notes a line that is being written; known_forget: it was not. */
void known_note(struct known *known, uint64_t hash);
void known_forget(struct known *known, uint64_t hash);
bool known_is_noted(const struct known *known, uint64_t hash);

void known_clear(struct known *known);

#endif
