/* SPDX-License-Identifier: BSD-2-Clause */
/* Keys of pending spans as a GHashTable's: struct pending_key, borrowed. */
#ifndef PENDINGKEY_H
#define PENDINGKEY_H

#include <glib.h>

/* A table by key. It owns neither keys nor values. */
GHashTable *pending_table_create(void);

#endif
