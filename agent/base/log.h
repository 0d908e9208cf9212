/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The log: each message is a line on standard error, one sentence that says what to do. Under systemd
 * (JOURNAL_STREAM is set) lines begin with its "<N>" level prefix; elsewhere with the program's name. As
 * JSON, each is an object: {"time":"2026-01-31T12:00:00.123Z","level":"info","program":"blkin-agent","pid":1,
 * "message":"..."}.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

/* In the order in which the configuration names them. */
enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARNING, LOG_LEVEL_INFO };
enum log_format { LOG_TEXT, LOG_JSON };

/*
 * Sets the program's name, which is borrowed, and takes over libevent's warnings. Call it before the first
 * message.
 */
void log_init(const char *program);

/* Whether messages of @level are written at all; all are, as text, before this is called. Any thread. */
void log_configure(enum log_level most, enum log_format format);

void log_error(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
void log_info(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
