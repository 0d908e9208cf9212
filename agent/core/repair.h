/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans with texts that are not UTF-8, for encoders that have to know each size before. */
#ifndef CORE_REPAIR_H
#define CORE_REPAIR_H

#include "base/buffer.h"
#include "core/span.h"

/*
 * Makes @to a copy of @from whose texts are UTF-8, but for `added`, and those within lists and maps: bytes
 * that are not become U+FFFD. It borrows from @from and from @memory, which is emptied first. Returns how
 * many texts were repaired.
 */
unsigned span_repair(const struct span *from, struct span *to, struct buffer *memory);

#endif
