/* SPDX-License-Identifier: BSD-2-Clause */
/* Harm to a trace's metadata, as text: what it declares, rather than its bytes. */
#ifndef TRACE_METADATA_H
#define TRACE_METADATA_H

#include <stdint.h>

#include <glib.h>

/* Takes the text out of its packets; leaves plain text, which babeltrace2 reads as well, or packets again. */
void metadata_harm(uint64_t *state, GByteArray *bytes);

#endif
