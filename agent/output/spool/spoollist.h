/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spools in a state directory, those of outputs that are no longer configured too: their spans wait until
 * an output of that name is configured again.
 */
#ifndef OUTPUT_SPOOL_SPOOLLIST_H
#define OUTPUT_SPOOL_SPOOLLIST_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

struct spool_found {
	char *output; /* its name */
	char *path;
	uint64_t bytes;         /* of disk */
	bool counted;           /* its counts could be read: */
	int64_t batches, spans; /* what that says the spool holds */
};

/*
 * Lists the spools in @directory, the output `default` first and then by name; g_ptr_array_unref. NULL if
 * the folder cannot be read (errno). Takes no lock: agents may be writing to the spools.
 */
GPtrArray *spoollist_read(const char *directory);

#endif
