/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A small server of spans, for a first try, for debugging and for tests: it takes connections and hands on
 * their spans, over Scribe or HTTP. What it cannot read is reported in one line on standard error.
 */
#ifndef SCRIBE_RECEIVER_H
#define SCRIBE_RECEIVER_H

#include <stdbool.h>

#include <event2/event.h>
#include <glib.h>
#include <sys/socket.h>

struct receiver;

struct receiver_options {
	struct sockaddr_storage address; /* where to listen; port 0 takes a free one */
	int address_length;
	const char *category; /* borrowed for the receiver's life */
	/*
	 * Gets the spans (of struct span2) of one call before it is answered; whoever keeps one steals it
	 * from the array. Returns whether they are taken care of: if not, the call gets no answer.
	 */
	bool (*take)(void *data, GPtrArray *spans);
	void *data;
};

/* Reads HOST:PORT, IP:PORT or [IPV6]:PORT; returns whether it is of that form, and the host is known. */
bool receiver_parse_address(const char *text, struct sockaddr_storage *address, int *length);

/* Starts to listen. Returns NULL having said why it cannot. */
struct receiver *receiver_create(struct event_base *base, const struct receiver_options *options);

/* Closes all connections. */
void receiver_destroy(struct receiver *receiver);

/* Where it listens, as ADDRESS:PORT; borrowed. */
const char *receiver_address(const struct receiver *receiver);

/* Takes no more connections and calls, and calls @done once what was answered has gone out, or nobody reads
 * it. */
void receiver_drain(struct receiver *receiver, void (*done)(void *data), void *data);

#endif
