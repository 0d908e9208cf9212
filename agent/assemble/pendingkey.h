/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of pending spans as a GHashTable's: struct pending_key, borrowed. */
#ifndef ASSEMBLE_PENDINGKEY_H
#define ASSEMBLE_PENDINGKEY_H

#include <glib.h>

/* A table by key. It owns neither keys nor values. */
GHashTable *pending_table_create(void);

#endif
