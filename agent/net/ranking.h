/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In which order the addresses of one name are tried: as the system has them, or, where the nodes of a
 * cluster are shared out among them, by their weights for this node (base/rendezvous.h). Those of the family
 * that the system puts first stay first then, as IPv6 and IPv4 mostly lead to the same servers.
 */
#ifndef NET_RANKING_H
#define NET_RANKING_H

#include <netdb.h>
#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/address.h"

/* Addresses that took a connection and failed on it, by their weights: they are tried last. */
#define AVOIDED_MAX 8

struct avoided {
	uint64_t weights[AVOIDED_MAX];
	unsigned count;
	int64_t until; /* CLOCK_MONOTONIC ns: then all of it is forgotten */
};

/* One more, until @until if it is the first. If it was avoided already, all have had their turn, and it is
 * the only one from here on. */
void avoided_add(struct avoided *avoided, uint64_t weight, int64_t until);

/* Where a connection leads, and where it should. */
struct reached {
	char address[ADDRESS_TEXT];   /* in digits, with the port */
	char preferred[ADDRESS_TEXT]; /* the same of the one of rank 0 */
	uint64_t weight;
	uint32_t rank, count; /* of so many addresses */
	char why[320];        /* the preferred one was not reached; "" if it was, or was not tried */
};

struct ranked {
	const struct addrinfo *address;
	char text[ADDRESS_TEXT]; /* in digits */
	uint64_t weight;         /* 0 without a node */
	uint32_t rank;           /* by weight: 0 is the preferred one */
	bool avoided;
	bool beside; /* another connection, which is in use, leads there: it is tried first */
};

/* In the order in which they are to be tried: an array of struct ranked, the caller's to g_array_unref; it
 * refers to @addresses, NULL: there are none. @node: whose weights; NULL: the system's order. @avoided may be
 * NULL, and so may @beside. */
GArray *ranking_create(const struct addrinfo *addresses, const char *node, const struct avoided *avoided,
	const struct reached *beside);

#endif
