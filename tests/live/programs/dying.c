/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into a program, ends it with SIGKILL as it registers: when it is about to tell the session daemon
 * of the fields of its channel. Its buffers are made by then, and the metadata of its user's trace begun: the
 * class of its streams is not in them yet. With DYING_STOPS in its environment it stops there instead, so
 * that the session daemon has the time to pass on its events, which it has told of before.
 */
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* liblttng-ust's message: a number that says what it is, then the rest. */
#define NOTIFY_CHANNEL 1
#define NOTIFY_CHANNEL_SIZE 48
#define NOTIFY_CHANNEL_SIZE_LATER 36 /* of LTTng 2.16 */

static int is_size(size_t size)
{
	return size == NOTIFY_CHANNEL_SIZE || size == NOTIFY_CHANNEL_SIZE_LATER;
}

ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
	uint32_t what = 0;

	if (message->msg_iovlen == 1 && is_size(message->msg_iov->iov_len))
		memcpy(&what, message->msg_iov->iov_base, sizeof(what));
	if (what == NOTIFY_CHANNEL)
		raise(getenv("DYING_STOPS") ? SIGSTOP : SIGKILL); /* this thread at once */
	return syscall(SYS_sendmsg, socket, message, flags);
}
