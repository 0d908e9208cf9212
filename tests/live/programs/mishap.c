/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into a program, lets it meet with a mishap where it matters:
 *
 *   BLKIN_DIE_AT=NAME   it is killed right after it removed a file or folder of this name from a folder, and
 *                       if it is blkin-reader, the agent with it
 *
 *   BLKIN_SHUT=FILE     while FILE is there, no folder of a word size (64-bit) in another can be opened
 *
 *   BLKIN_STALL=FILE    while FILE is there, the next write at a place takes 1.5 s, and takes FILE away
 *
 *   BLKIN_FORESTALL=FILE   while FILE, a program, is there, the next LTTng session is not made: FILE is
 *                          taken away, and run
 *
 *   BLKIN_THREADLESS=FILE  while FILE is there, no thread can be started
 */
#undef _FILE_OFFSET_BITS /* else pwrite would be pwrite64, and there are programs that call either */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STALL_US 1500000
/* LTTng's LTTNG_ERR_UNK. */
#define UNKNOWN_ERROR 11

int unlinkat(int folder, const char *name, int flags)
{
	const char *last = getenv("BLKIN_DIE_AT"), *slash = strrchr(name, '/');
	int code = (int)syscall(SYS_unlinkat, folder, name, flags);

	if (code != 0 || !last || strcmp(last, slash ? slash + 1 : name) != 0)
		return code;
	if (!strcmp(program_invocation_short_name, "blkin-reader"))
		kill(getppid(), SIGKILL);
	kill(getpid(), SIGKILL);
	return code;
}

static int open_at(int folder, const char *path, int flags, mode_t mode)
{
	const char *file = getenv("BLKIN_SHUT");

	if (file && !strcmp(path, "64-bit") && syscall(SYS_faccessat, AT_FDCWD, file, F_OK) == 0) {
		errno = EMFILE;
		return -1;
	}
	return (int)syscall(SYS_openat, folder, path, flags, mode);
}

#define MODE_OF(flags, mode)                                                                                 \
	do {                                                                                                 \
		va_list args;                                                                                \
		va_start(args, flags);                                                                       \
		mode = (flags) & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;                         \
		va_end(args);                                                                                \
	} while (0)

int openat(int folder, const char *path, int flags, ...)
{
	mode_t mode;

	MODE_OF(flags, mode);
	return open_at(folder, path, flags, mode);
}

int openat64(int folder, const char *path, int flags, ...)
{
	mode_t mode;

	MODE_OF(flags, mode);
	return open_at(folder, path, flags, mode);
}

static void stall(void)
{
	const char *file = getenv("BLKIN_STALL");

	if (file && syscall(SYS_unlinkat, AT_FDCWD, file, 0) == 0)
		usleep(STALL_US);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	stall();
	return syscall(SYS_pwrite64, fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	stall();
	return syscall(SYS_pwrite64, fd, data, size, offset);
}

int lttng_create_session_ext(void *descriptor);
int lttng_create_session_ext(void *descriptor)
{
	const char *file = getenv("BLKIN_FORESTALL");
	void *symbol = dlsym(RTLD_NEXT, "lttng_create_session_ext");
	int (*create)(void *descriptor) = NULL;
	char script[4096];

	if (file && snprintf(script, sizeof(script), "%s.now", file) > 0 && rename(file, script) == 0)
		return system(script) == 0 ? UNKNOWN_ERROR : -1;
	memcpy(&create, &symbol, sizeof(create));
	return create(descriptor);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *data)
{
	const char *file = getenv("BLKIN_THREADLESS");
	void *symbol = dlsym(RTLD_NEXT, "pthread_create");
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = NULL;

	if (file && syscall(SYS_faccessat, AT_FDCWD, file, F_OK) == 0)
		return EAGAIN;
	memcpy(&create, &symbol, sizeof(create));
	return create(thread, attributes, run, data);
}
