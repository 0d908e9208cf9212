/* SPDX-License-Identifier: BSD-2-Clause */
/* A disk that hangs, for the files of spans: fdatasync() does not return as long as the file $HUNGDISK is
 * there. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int fdatasync(int fd)
{
	const char *hung = getenv("HUNGDISK");

	while (hung && access(hung, F_OK) == 0)
		usleep(10000);
	return (int)syscall(SYS_fdatasync, fd);
}
