/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where in the spool's file each batch has its bytes, and so what should survive damage: by a walk over the
 * file's pages that owes nothing to SQLite.
 */
#ifndef SPOOL_WALK_H
#define SPOOL_WALK_H

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

struct piece {
	int64_t id;
	size_t end;  /* of the bytes that it needs, of the pages' own tables too */
	size_t last; /* its blobs' last byte */
};

struct walk {
	const uint8_t *file;
	size_t size;   /* in use: behind that the file may have room for more */
	GArray *needs; /* of struct piece, one a batch: the highest end */
};

/* All of good's batches; walk_free ends it. */
void walk_good(struct walk *walk);
void walk_free(struct walk *walk);

/* How many batches are whole in a file that is cut off at @size. */
int64_t walk_survivors(const struct walk *walk, size_t size);

#endif
