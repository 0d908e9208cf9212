/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans in assembly as bytes, for the checkpoint. Since the data may be damaged, it is checked when it is
 * read.
 */
#ifndef READER_ASSEMBLE_PENDINGSAVE_H
#define READER_ASSEMBLE_PENDINGSAVE_H

#include "base/pack.h"
#include "reader/assemble/pending.h"

/* Appends @pending; its deadline is stored as the time left at @now. */
void pending_save(const struct pending *pending, int64_t now, struct buffer *out);

/* Reads one; NULL if it is damaged. The caller owns it. */
struct pending *pending_load(struct unpacker *from, int64_t now);

#endif
