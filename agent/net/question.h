/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Questions to the system's name service, by the C library: it knows /etc/hosts, nsswitch.conf and today's
 * resolv.conf. It may wait for name servers for minutes, so each question has a thread of its own, for which
 * nobody has to wait. A question that was given up goes on; who soon asks the same takes it over, and so name
 * servers that hang hold few threads, however many tries there are. There is a bound to them in any case.
 */
#ifndef NET_QUESTION_H
#define NET_QUESTION_H

#include <netdb.h>
#include <stdbool.h>

#include <event2/event.h>

struct question;

/*
 * Asks for the addresses of @family that @host and @port, in digits, have. @answered is made active, from any
 * thread, when the answer is there: the process uses libevent's locks. NULL, with errno set, if no thread can
 * be had for it.
 */
struct question *question_ask(const char *host, const char *port, int family, struct event *answered);

/*
 * Returns whether the answer is there: the addresses, the caller's until freeaddrinfo, or NULL and @why, part
 * of a sentence. It is told once.
 */
bool question_answer(struct question *question, struct addrinfo **addresses, char *why, size_t why_size);

/* Ends it, answered or given up; NULL is allowed. From here on nothing refers to its event. */
void question_end(struct question *question);

#endif
