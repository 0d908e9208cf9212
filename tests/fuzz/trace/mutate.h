/* SPDX-License-Identifier: BSD-2-Clause */
/* Harm to a trace: some of what a program of its user, a full disk or a broken one could do, and more. */
#ifndef TRACE_MUTATE_H
#define TRACE_MUTATE_H

#include <stdint.h>

#include "trace/files.h"

/* A number below @limit, which is not 0; the same sequence for the same @state. */
uint32_t random_below(uint64_t *state, uint32_t limit);

/* Harms @trace once or several times; pieces of @other may go into it. */
void mutate(uint64_t *state, trace_files *trace, const trace_files *other);

#endif
