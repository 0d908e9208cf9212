/* SPDX-License-Identifier: BSD-2-Clause */
/* A process that hangs is ended with all that it has started, which might go on without it. */
#ifndef SESSION_FORCEDEND_H
#define SESSION_FORCEDEND_H

#include <sys/types.h>

/* Kills the process, a child, and its children. */
void forced_end(pid_t pid);

#endif
