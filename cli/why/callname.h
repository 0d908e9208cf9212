/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: names of system calls, which events only lend. */
#ifndef WHY_CALLNAME_H
#define WHY_CALLNAME_H

#include "core/text.h"

/* The kernel has less than five hundred system calls. */
#define CALLS_MAX 1024

/* The same name, which ends with a NUL and lives as long as the program; "" if there are too many. */
struct text call_keep(struct text name);

#endif
