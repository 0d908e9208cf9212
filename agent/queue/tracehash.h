/* SPDX-License-Identifier: BSD-2-Clause */
/* A hash of trace ids for tables in memory. Programs and senders choose ids, and cannot choose them so that
 * all have the same hash: each process has a random key. Any thread. Both are for a GHashTable whose keys
 * are, or begin with, a struct trace_id. */
#ifndef QUEUE_TRACEHASH_H
#define QUEUE_TRACEHASH_H

#include <glib.h>

#include "core/traceid.h"

guint tracehash(gconstpointer id);
gboolean tracehash_equal(gconstpointer id, gconstpointer other);

#endif
