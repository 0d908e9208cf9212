/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/sanitize.h"

static const char *log_program = "blkin";
static int log_to_journal;

/* Writes the line in one call, so that lines of different threads do not mix. */
static void write_line(int level, const char *format, va_list args)
{
	char message[1024], line[1100];

	vsnprintf(message, sizeof(message), format, args);
	/*
	 * names come from programs and texts from peers: neither may begin a new line, or control a terminal
	 */
	words_clean(message, strlen(message));
	if (log_to_journal)
		snprintf(line, sizeof(line), "<%d>%s\n", level, message);
	else
		snprintf(line, sizeof(line), "%s: %s\n", log_program, message);
	fputs(line, stderr);
}

#define DEFINE_LOG(name, level)                                                                              \
	void name(const char *format, ...)                                                                   \
	{                                                                                                    \
		va_list args;                                                                                \
		va_start(args, format);                                                                      \
		write_line(level, format, args);                                                             \
		va_end(args);                                                                                \
	}

DEFINE_LOG(log_error, 3)
DEFINE_LOG(log_warning, 4)
DEFINE_LOG(log_info, 6)

/* libevent repeats this for each connection that it cannot accept: one line a second is enough. */
static void log_libevent(int severity, const char *message)
{
	static time_t last; /* used by the loop's thread only */
	time_t now = time(NULL);

	if (severity < EVENT_LOG_WARN || now == last)
		return;
	last = now;
	log_warning("%s", message);
}

void log_init(const char *program)
{
	log_program = program;
	log_to_journal = getenv("JOURNAL_STREAM") != NULL && !isatty(STDERR_FILENO);
	event_set_log_callback(log_libevent);
}
