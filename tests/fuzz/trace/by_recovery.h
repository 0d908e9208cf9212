/* SPDX-License-Identifier: BSD-2-Clause */
/* Traces through the recovery of the agent's reader, from lttng-relayd's files. */
#ifndef TRACE_BY_RECOVERY_H
#define TRACE_BY_RECOVERY_H

/* The folder of a session in a relay's output, in which each trace is that of a user: ust/uid/USER/64-bit. To
 * be freed. */
char *recovery_folder(const char *output);

/* Reads all of it, with as many processes as it takes, one after the other. */
void recover_output(const char *output);

#endif
