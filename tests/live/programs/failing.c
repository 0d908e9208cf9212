/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into a program, lets the n-th call of one kind fail, once: BLKIN_FAIL=KIND:N:ERRNO, or KIND:N:0
 * for a call that moves one byte only. Kinds: open, read, write, sync (files), connect, send, recv (sockets),
 * malloc. Calls count from failing_arm() on, in all threads. With BLKIN_FAIL_COUNTS=FILE the program leaves
 * "KIND N" lines there at its end: how many calls there were.
 *
 * Memory that GLib asks for does not count: GLib ends the process when there is none, and that is its way.
 */
#undef _FILE_OFFSET_BITS /* else open would be open64, and there are programs that call either */

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum kind { OPEN, READ, WRITE, SYNC, CONNECT, SEND, RECV, MALLOC, KINDS };
enum { GOES_ON = -1, SHORT = 0 }; /* else an errno */

static const char *const names[KINDS] = {
	"open", "read", "write", "sync", "connect", "send", "recv", "malloc"};
static atomic_bool armed;
static atomic_long counts[KINDS];
static int fail_kind = KINDS, fail_errno;
static long fail_at;
static uintptr_t glib_start, glib_end;

/* Counts a call; returns GOES_ON, or how it has to fail. */
static int fate(enum kind kind)
{
	if (!atomic_load_explicit(&armed, memory_order_relaxed))
		return GOES_ON;
	return atomic_fetch_add(&counts[kind], 1) + 1 == fail_at && (int)kind == fail_kind ? fail_errno
											   : GOES_ON;
}

static int find_glib(struct dl_phdr_info *info, size_t size, void *data)
{
	(void)size;
	(void)data;
	if (!strstr(info->dlpi_name, "libglib-2.0"))
		return 0;
	glib_start = info->dlpi_addr;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			glib_end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	return 1;
}

/* Called by the program when its start is over. */
void failing_arm(void);
void failing_arm(void)
{
	const char *how = getenv("BLKIN_FAIL");

	for (int i = 0; how && i < KINDS; i++) {
		size_t size = strlen(names[i]);

		if (!strncmp(how, names[i], size) && how[size] == ':' &&
			sscanf(how + size, ":%ld:%d", &fail_at, &fail_errno) == 2)
			fail_kind = i;
	}
	dl_iterate_phdr(find_glib, NULL);
	atomic_store(&armed, true);
}

static void __attribute__((destructor)) leave_counts(void)
{
	const char *path = getenv("BLKIN_FAIL_COUNTS");
	FILE *file;

	atomic_store(&armed, false);
	if (!path || !(file = fopen(path, "w")))
		return;
	for (int i = 0; i < KINDS; i++)
		fprintf(file, "%s %ld\n", names[i], atomic_load(&counts[i]));
	fclose(file);
}

#define FAIL_AS(how)                                                                                         \
	do {                                                                                                 \
		errno = (how);                                                                               \
		return -1;                                                                                   \
	} while (0)

/* Files */

#define MODE_OF(flags, mode)                                                                                 \
	do {                                                                                                 \
		va_list args;                                                                                \
		va_start(args, flags);                                                                       \
		mode = (flags) & (O_CREAT | __O_TMPFILE) ? va_arg(args, mode_t) : 0;                         \
		va_end(args);                                                                                \
	} while (0)

int open(const char *path, int flags, ...)
{
	mode_t mode;
	int how = fate(OPEN);

	MODE_OF(flags, mode);
	if (how > 0)
		FAIL_AS(how);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	mode_t mode;
	int how = fate(OPEN);

	MODE_OF(flags, mode);
	if (how > 0)
		FAIL_AS(how);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int fsync(int fd)
{
	int how = fate(SYNC);

	if (how > 0)
		FAIL_AS(how);
	return (int)syscall(SYS_fsync, fd);
}

int fdatasync(int fd)
{
	int how = fate(SYNC);

	if (how > 0)
		FAIL_AS(how);
	return (int)syscall(SYS_fdatasync, fd);
}

/* Bytes, of a file or a socket */

/* Neither terminals nor the descriptors by which a loop is woken: those do not fail. */
static int move_fate(int fd, enum kind file, enum kind socket)
{
	struct stat status;

	if (!atomic_load(&armed) || fstat(fd, &status) != 0)
		return GOES_ON;
	if (S_ISSOCK(status.st_mode))
		return fate(socket);
	return S_ISREG(status.st_mode) ? fate(file) : GOES_ON;
}

ssize_t read(int fd, void *data, size_t size)
{
	int how = move_fate(fd, READ, RECV);

	if (how > 0)
		FAIL_AS(how);
	return syscall(SYS_read, fd, data, how == SHORT && size ? 1 : size);
}

ssize_t write(int fd, const void *data, size_t size)
{
	int how = move_fate(fd, WRITE, SEND);

	if (how > 0)
		FAIL_AS(how);
	return syscall(SYS_write, fd, data, how == SHORT && size ? 1 : size);
}

ssize_t pread64(int fd, void *data, size_t size, off64_t offset)
{
	int how = fate(READ);

	if (how > 0)
		FAIL_AS(how);
	return syscall(SYS_pread64, fd, data, how == SHORT && size ? 1 : size, offset);
}

ssize_t pread(int fd, void *data, size_t size, off_t offset)
{
	return pread64(fd, data, size, offset);
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset)
{
	int how = fate(WRITE);

	if (how > 0)
		FAIL_AS(how);
	return syscall(SYS_pwrite64, fd, data, how == SHORT && size ? 1 : size, offset);
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset)
{
	return pwrite64(fd, data, size, offset);
}

ssize_t readv(int fd, const struct iovec *parts, int count)
{
	int how = move_fate(fd, READ, RECV);
	struct iovec one = {parts[0].iov_base, 1};

	if (how > 0)
		FAIL_AS(how);
	return how == SHORT ? syscall(SYS_readv, fd, &one, 1) : syscall(SYS_readv, fd, parts, count);
}

ssize_t writev(int fd, const struct iovec *parts, int count)
{
	int how = move_fate(fd, WRITE, SEND);
	struct iovec one = {parts[0].iov_base, 1};

	if (how > 0)
		FAIL_AS(how);
	return how == SHORT ? syscall(SYS_writev, fd, &one, 1) : syscall(SYS_writev, fd, parts, count);
}

/* Sockets */

int connect(int fd, const struct sockaddr *address, socklen_t size)
{
	int how = fate(CONNECT);

	if (how > 0)
		FAIL_AS(how);
	return (int)syscall(SYS_connect, fd, address, size);
}

ssize_t send(int fd, const void *data, size_t size, int flags)
{
	int how = fate(SEND);

	if (how > 0)
		FAIL_AS(how);
	return syscall(SYS_sendto, fd, data, how == SHORT && size ? 1 : size, flags, NULL, 0);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	int how = fate(SEND);

	if (how > 0)
		FAIL_AS(how);
	return syscall(SYS_sendmsg, fd, message, flags);
}

ssize_t recv(int fd, void *data, size_t size, int flags)
{
	int how = fate(RECV);

	if (how > 0)
		FAIL_AS(how);
	return syscall(SYS_recvfrom, fd, data, how == SHORT && size ? 1 : size, flags, NULL, NULL);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	int how = fate(RECV);

	if (how > 0)
		FAIL_AS(how);
	return syscall(SYS_recvmsg, fd, message, flags);
}

/* Memory: passed on to the next library's functions, which may be a sanitizer's. */

/* What the search for them asks for itself. */
static _Alignas(16) char early[4096];
static size_t early_used;

static void *take_early(size_t size)
{
	void *taken = early + early_used;

	early_used += (size + 15) & ~(size_t)15;
	if (early_used > sizeof(early))
		abort();
	return taken;
}

static struct {
	bool found, finding;
	void *(*get)(size_t size);
	void *(*get_zeroed)(size_t count, size_t size);
	void *(*resize)(void *data, size_t size);
} next;

static bool found_next(void)
{
	if (!next.found && !next.finding) {
		next.finding = true;
		next.get = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
		next.get_zeroed = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
		next.resize = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
		next.found = true;
	}
	return next.found;
}

static bool refuses(const void *caller)
{
	uintptr_t address = (uintptr_t)caller;

	if (!atomic_load_explicit(&armed, memory_order_relaxed) ||
		(address >= glib_start && address < glib_end))
		return false;
	if (fate(MALLOC) == GOES_ON)
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t size)
{
	if (!found_next())
		return take_early(size);
	return refuses(__builtin_return_address(0)) ? NULL : next.get(size);
}

void *calloc(size_t count, size_t size)
{
	if (!found_next())
		return take_early(count * size);
	return refuses(__builtin_return_address(0)) ? NULL : next.get_zeroed(count, size);
}

void *realloc(void *data, size_t size)
{
	if (!found_next())
		return take_early(size);
	return refuses(__builtin_return_address(0)) ? NULL : next.resize(data, size);
}
