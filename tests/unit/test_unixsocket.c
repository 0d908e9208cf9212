/* SPDX-License-Identifier: BSD-2-Clause */
/* A socket that a dead process left is replaced; one that somebody has is not, whatever is in the way. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "net/unixsocket.h"

#include "run.h"

static char *folder, *path;

static void make_folder(void)
{
	folder = g_dir_make_tmp("blkin-XXXXXX", NULL);
	ck_assert_ptr_nonnull(folder);
	path = g_build_filename(folder, "socket", NULL);
}

static void remove_folder(void)
{
	g_unlink(path);
	ck_assert_int_eq(g_rmdir(folder), 0);
	g_free(path);
	g_free(folder);
}

/* Somebody's. */
static int open_socket(int type)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, type, 0);

	g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	ck_assert(type == SOCK_DGRAM || listen(fd, 0) == 0);
	return fd;
}

static void assert_stays(int error)
{
	struct stat before, after;

	ck_assert_int_eq(lstat(path, &before), 0);
	errno = 0;
	ck_assert_int_eq(unixsocket_bind(path, 0600), -1);
	ck_assert_int_eq(errno, error);
	ck_assert_int_eq(lstat(path, &after), 0);
	ck_assert_uint_eq(before.st_ino, after.st_ino);
}

static const int types[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET};

START_TEST(somebody_has_it)
{
	int fd = open_socket(types[_i]);

	ck_assert(unixsocket_answers(path));
	assert_stays(EADDRINUSE);
	close(fd);
	ck_assert(!unixsocket_answers(path));
	fd = unixsocket_bind(path, 0600);
	ck_assert_int_ge(fd, 0);
	close(fd);
}
END_TEST

/* Others wait to be let in, as many as may. */
START_TEST(it_is_busy)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = open_socket(SOCK_STREAM), waiting = socket(AF_UNIX, SOCK_STREAM, 0);

	g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
	ck_assert_int_eq(connect(waiting, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_stays(EADDRINUSE);
	close(waiting);
	close(fd);
}
END_TEST

/* That nobody has it cannot be known then. */
START_TEST(no_file_can_be_opened)
{
	int fd = open_socket(SOCK_STREAM);
	struct rlimit limit, none;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = (struct rlimit){0, limit.rlim_max};
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	assert_stays(EMFILE);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	close(fd);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("unixsocket");

	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_add_loop_test(tests, somebody_has_it, 0, G_N_ELEMENTS(types));
	tcase_add_test(tests, it_is_busy);
	tcase_add_test(tests, no_file_can_be_opened);
	return run_cases("unixsocket", tests);
}
