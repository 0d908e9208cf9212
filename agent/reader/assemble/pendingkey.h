/* SPDX-License-Identifier: BSD-2-Clause */
/* struct pending_key as a key of GHashTable. */
#ifndef READER_ASSEMBLE_PENDINGKEY_H
#define READER_ASSEMBLE_PENDINGKEY_H

#include <glib.h>

/* Creates a table by key, which owns neither keys nor values. */
GHashTable *pending_table_create(void);

#endif
