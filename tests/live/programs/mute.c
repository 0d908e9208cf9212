/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Preloaded into a program, stops it as it is about to answer which tracepoints it has, in the midst of the
 * list. LTTng's session daemon, which has asked, ends by an assertion then.
 */
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* liblttng-ust's answer: a handle, and the number of what was asked for. */
#define TRACEPOINT_LIST_GET 0x90

ssize_t sendmsg(int socket, const struct msghdr *message, int flags)
{
	uint32_t answer[2] = {0};

	if (message->msg_iovlen == 1 && message->msg_iov->iov_len >= sizeof(answer))
		memcpy(answer, message->msg_iov->iov_base, sizeof(answer));
	if (answer[1] == TRACEPOINT_LIST_GET)
		raise(SIGSTOP);
	return syscall(SYS_sendmsg, socket, message, flags);
}
