/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log: each message is a line on standard error, one sentence that says what to do. Under systemd
 * (JOURNAL_STREAM is set) lines begin with its "<N>" level prefix; elsewhere with the program's name.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

/*
 * Sets the program's name, which is borrowed, and takes over libevent's warnings. Call it before the first
 * message.
 */
void log_init(const char *program);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
