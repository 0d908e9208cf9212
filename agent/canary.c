/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * blkin-canary: the agent's own traced program. Whenever the agent writes a number, it records an event with
 * that number, and answers what it could do. It is a process of its own, so that nothing of LTTng-UST is in
 * the agent: no thread, no handler of forks, no call that waits for the session daemon.
 *
 * It ends when the agent closes its end of the socket, or dies. Not by a signal: a program that is killed in
 * the middle of an event stops its user's stream for good (reader/replace.c).
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "canaryevent.h"

#include "supervise/beat.h"

/* LTTng-UST's sockets have low numbers, as this process opens nothing else. */
#define SOCKETS_MAX 64

/* Whether it is connected to a session daemon: LTTng-UST does not tell. */
static int is_registered(void)
{
	for (int fd = CANARY_SOCKET + 1; fd < SOCKETS_MAX; fd++) {
		struct sockaddr_un peer = {0};
		socklen_t size = sizeof(peer) - 1;

		if (getpeername(fd, (struct sockaddr *)&peer, &size) == 0 && peer.sun_family == AF_UNIX &&
			strstr(peer.sun_path, "lttng-ust-sock"))
			return 1;
	}
	return 0;
}

static uint8_t beat(uint64_t number)
{
	uint8_t answer = is_registered() ? CANARY_REGISTERED : 0;

	if (!lttng_ust_tracepoint_enabled(blkin_canary, beat))
		return answer;
	lttng_ust_do_tracepoint(blkin_canary, beat, number);
	return answer | CANARY_RECORDED;
}

int main(void)
{
	uint64_t number;
	uint8_t answer;

	/* what is sent to all of the agent's processes is for the agent */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	while (recv(CANARY_SOCKET, &number, sizeof(number), 0) == sizeof(number)) {
		answer = beat(number);
		if (send(CANARY_SOCKET, &answer, sizeof(answer), MSG_NOSIGNAL) != sizeof(answer))
			break;
	}
	/* without LTTng-UST's own end, which may wait */
	_exit(EX_OK);
}
