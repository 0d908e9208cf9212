/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which of several servers a node prefers, without a coordinator: each server has a weight for each
 * node, a hash of both, and the largest is preferred (rendezvous hashing). Over many nodes, each server is
 * preferred by as many; when one leaves, only its nodes prefer another one, and when one comes, only those
 * that prefer it change.
 */
#ifndef BASE_RENDEZVOUS_H
#define BASE_RENDEZVOUS_H

#include <stddef.h>
#include <stdint.h>

#include "base/address.h"

/*
 * Of the server at @address, HOST:PORT, for the node called @node. The same on every machine and in every
 * version, as nodes would change servers otherwise: blkin-agent.conf(5) says what it is.
 */
uint64_t rendezvous_weight(const char *node, const char *address);

/* Puts the servers in order, the one that @node prefers first. */
void rendezvous_sort(const char *node, struct address *servers, size_t count);

#endif
