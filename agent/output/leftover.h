/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spools on disk that no output delivers, as theirs was taken out of the configuration: the log tells of each
 * once.
 */
#ifndef OUTPUT_LEFTOVER_H
#define OUTPUT_LEFTOVER_H

#include "config/config.h"

struct leftover;

struct leftover *leftover_create(void);
void leftover_destroy(struct leftover *leftover);

/* The spool of the output @name has been told of. */
void leftover_told(struct leftover *leftover, const char *name);

/* Logs those that hold spans, and that nothing told of since an output last had them. */
void leftover_tell(struct leftover *leftover, const struct config *config);

#endif
