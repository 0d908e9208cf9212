/* SPDX-License-Identifier: BSD-2-Clause */
/* A disk that hangs, for the files of spans: fdatasync() does not return as long as the file $HUNGDISK is
 * there, and neither does an open() of the folder $HUNGFOLDER. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void hang(void)
{
	const char *hung = getenv("HUNGDISK");

	while (hung && access(hung, F_OK) == 0)
		usleep(10000);
}

int fdatasync(int fd)
{
	hang();
	return (int)syscall(SYS_fdatasync, fd);
}

int open(const char *path, int flags, ...)
{
	const char *folder = getenv("HUNGFOLDER");
	mode_t mode;
	va_list rest;

	va_start(rest, flags);
	mode = flags & O_CREAT ? va_arg(rest, mode_t) : 0;
	va_end(rest);
	if (folder && !strcmp(path, folder))
		hang();
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
