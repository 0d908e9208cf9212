/* SPDX-License-Identifier: BSD-2-Clause */
#include "process.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

/* The line is '&', a pid of this many digits at most, '=', the name, and a line break. */
#define PID_DIGITS 10
#define NAME_MAX_BYTES (BLKIN_PROCESS_LINE_ - PID_DIGITS - 3)

struct blkin_process process;

static char name[NAME_MAX_BYTES + 1];

/* Without what printf may lock or allocate, as it also runs in children of programs with threads. */
static char *put_pid(char *to)
{
	char digits[PID_DIGITS], *first = digits + sizeof(digits);
	unsigned rest = (unsigned)getpid();

	do
		*--first = (char)('0' + rest % 10);
	while (rest /= 10);
	memcpy(to, first, (size_t)(digits + sizeof(digits) - first));
	return to + (digits + sizeof(digits) - first);
}

void process_in_child(void)
{
	size_t size = strlen(name);
	char *to = process.line;

	*to++ = '&';
	to = put_pid(to);
	*to++ = '=';
	memcpy(to, name, size);
	to[size] = '\n';
	process.size = (uint32_t)(to + size + 1 - process.line);
}

/* The name of the file that runs; its beginning, if it is long. */
static void read_name(void)
{
	char path[PATH_MAX];
	ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);
	const char *base;

	if (size <= 0)
		return;
	path[size] = '\0';
	base = strrchr(path, '/');
	base = base ? base + 1 : path;
	for (size_t i = 0; base[i] && i < NAME_MAX_BYTES; i++)
		name[i] = base[i] == '\n' ? '?' : base[i];
}

void process_prepare(void)
{
	read_name();
	process_in_child();
}
