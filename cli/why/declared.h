/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: what traces say that they record, be there any of it or not. */
#ifndef WHY_DECLARED_H
#define WHY_DECLARED_H

#include <stdbool.h>

#include <glib.h>

/*
 * Whether one of @traces (folders, char *) records every system call, as `syscalls = *` of [kernel] has it:
 * then LTTng declares more of them than anybody would list. What cannot be read declares nothing.
 */
bool declared_all_calls(const GPtrArray *traces);

#endif
