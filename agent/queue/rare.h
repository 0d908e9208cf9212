/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Services of which an output keeps hardly anything, as few of their spans come: each has one span a second
 * at least. So many of them in a second, at most, since programs may name any number of services. One owner,
 * no lock.
 */
#ifndef QUEUE_RARE_H
#define QUEUE_RARE_H

#include <stdbool.h>
#include <stdint.h>

#define RARE_MAX 256

struct rare;

struct rare *rare_create(void);
void rare_destroy(struct rare *rare); /* @rare may be NULL */

/* A span of the service (a hash of its name) is kept, @now (CLOCK_MONOTONIC ns). */
void rare_keep(struct rare *rare, uint32_t service, int64_t now);

/* Whether one that is left out is to be kept, as none was for a second; then it counts as kept. */
bool rare_wants(struct rare *rare, uint32_t service, int64_t now);

#endif
