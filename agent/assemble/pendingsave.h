/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans in assembly as bytes, for the checkpoint. What is read back is checked: it may be damaged. */
#ifndef ASSEMBLE_PENDINGSAVE_H
#define ASSEMBLE_PENDINGSAVE_H

#include "assemble/pending.h"
#include "base/pack.h"

/* Appends @pending; its deadline as the time that is left of it at @now. */
void pending_save(const struct pending *pending, int64_t now, struct buffer *out);

/* Reads one; NULL if it is damaged. The caller owns it. */
struct pending *pending_load(struct unpacker *from, int64_t now);

#endif
