/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions to the system's name service, through the C library, which knows /etc/hosts, nsswitch.conf and
 * the current resolv.conf. (libevent's resolver uses freed memory when it ends while it probes a name server
 * that cannot be reached.) The C library may wait for name servers for minutes, so each question has its own
 * thread, for which nobody has to wait. A question that was given up continues. If the same is asked again
 * soon, it is taken over, with its answer if that has come: so name servers that hang occupy few threads,
 * however many tries there are, and slow ones are heard. Their number is bounded in any case.
 */
#ifndef NET_QUESTION_H
#define NET_QUESTION_H

#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

struct question;

/*
 * Asks for the addresses of @family of @host and the numeric @port. @answered is activated, from any thread,
 * when the answer arrives; the process must use libevent's locks. NULL, with errno set, if no thread can be
 * started.
 */
struct question *question_ask(const char *host, const char *port, int family, struct event *answered);

/*
 * Returns whether the answer has arrived: the addresses, which the caller frees with freeaddrinfo, or NULL
 * and @why, part of a sentence. The answer is returned only once.
 */
bool question_answer(struct question *question, struct addrinfo **addresses, char *why, size_t why_size);

/*
 * Asks for all addresses, with these flags of getaddrinfo, and waits for at most @patience_ns: for who has no
 * loop, or tries again. The caller's, or NULL with @why as above.
 */
struct addrinfo *question_wait(
	const char *host, const char *port, int flags, int64_t patience_ns, char *why, size_t size);

/* Ends it, answered or given up; NULL is allowed. Afterwards nothing refers to its event. */
void question_end(struct question *question);

#endif
