/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spools on disk that no output delivers, as theirs was taken out of the configuration: the log tells of each
 * once.
 */
#ifndef OUTPUT_LEFTOVER_H
#define OUTPUT_LEFTOVER_H

#include <glib.h>

#include "config/config.h"

/* Logs those that hold spans, and whose outputs are not among @told (a set of names, owned): it adds them,
 * and takes out those whose spools are delivered. */
void leftover_tell(GHashTable *told, const struct config *config);

#endif
