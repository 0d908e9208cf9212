/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The line about this process that the header prints if BLKIN_DEBUG is set: the provider, LTTng's session
 * daemons, whether a session records spans, and the sampling.
 */
#ifndef REPORT_H
#define REPORT_H

/* Bytes for the line */
#define REPORT_SIZE 1024

/* Writes the line, with its line break, to standard error; only the first time in a process. */
void report_print(void);

#endif
