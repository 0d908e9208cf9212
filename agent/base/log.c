/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <event2/event.h>

#include "base/sanitize.h"

#define MESSAGE_MAX 1024

static const char *log_program = "blkin";
static int log_to_journal;
/* they may change while other threads write */
static _Atomic enum log_level log_most = LOG_LEVEL_INFO;
static _Atomic enum log_format log_format = LOG_TEXT;

static const struct {
	const char *name;
	int priority; /* syslog's */
} levels[] = {
	[LOG_LEVEL_ERROR] = {"error", 3},
	[LOG_LEVEL_WARNING] = {"warning", 4},
	[LOG_LEVEL_INFO] = {"info", 6},
};

/* In memory of its own: there may be no other. @message has no control characters, and is UTF-8. */
static void print_json(char *line, size_t size, enum log_level level, const char *message)
{
	char escaped[2 * MESSAGE_MAX], stamp[32], *to = escaped;
	struct timespec now;
	struct tm utc;

	for (; *message; *to++ = *message++)
		if (*message == '"' || *message == '\\')
			*to++ = '\\';
	*to = '\0';
	clock_gettime(CLOCK_REALTIME, &now);
	strftime(stamp, sizeof(stamp), "%Y-%m-%dT%H:%M:%S", gmtime_r(&now.tv_sec, &utc));
	snprintf(line, size,
		"{\"time\":\"%s.%03ldZ\",\"level\":\"%s\",\"program\":\"%s\",\"pid\":%d,\"message\":\"%s\"}"
		"\n",
		stamp, now.tv_nsec / 1000000, levels[level].name, log_program, (int)getpid(), escaped);
}

/* Writes the line in one call, so that lines of different threads do not mix. */
static void write_line(enum log_level level, const char *format, va_list args)
{
	char message[MESSAGE_MAX], line[2 * MESSAGE_MAX + 256];
	int used = 0;

	if (level > log_most)
		return;
	vsnprintf(message, sizeof(message), format, args);
	/*
	 * names come from programs and texts from peers: neither may begin a new line, or control a terminal
	 */
	words_clean(message, strlen(message));
	if (log_to_journal)
		used = snprintf(line, sizeof(line), "<%d>", levels[level].priority);
	else if (log_format == LOG_TEXT)
		used = snprintf(line, sizeof(line), "%s: ", log_program);
	if (log_format == LOG_JSON)
		print_json(line + used, sizeof(line) - (size_t)used, level, message);
	else
		snprintf(line + used, sizeof(line) - (size_t)used, "%s\n", message);
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

DEFINE_LOG(log_error, LOG_LEVEL_ERROR)
DEFINE_LOG(log_warning, LOG_LEVEL_WARNING)
DEFINE_LOG(log_info, LOG_LEVEL_INFO)

/* libevent repeats this for each connection that it cannot accept: one line a second is enough. */
static void log_libevent(int severity, const char *message)
{
	static _Atomic time_t last; /* several threads have a loop */
	time_t now = time(NULL);

	if (severity < EVENT_LOG_WARN || atomic_exchange(&last, now) == now)
		return;
	log_warning("%s", message);
}

void log_configure(enum log_level most, enum log_format format)
{
	log_most = most;
	log_format = format;
}

void log_init(const char *program)
{
	log_program = program;
	log_to_journal = getenv("JOURNAL_STREAM") != NULL && !isatty(STDERR_FILENO);
	event_set_log_callback(log_libevent);
}
