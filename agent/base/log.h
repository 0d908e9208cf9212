/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log: one line a message on standard error, one sentence each, that says what to do. Under systemd
 * (JOURNAL_STREAM is set) lines carry its "<N>" level prefix; elsewhere the program's name.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

/* Sets the name that lines begin with; borrowed. Before the first message. libevent's own warnings come here
 * too. */
void log_init(const char *program);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
