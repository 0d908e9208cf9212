/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The spans that an output would leave out, while another span of their trace may still make it keep them
 * all: `keep-traces`. They wait here, in memory, for so long and in so many bytes; the oldest go first. A
 * trace that was kept stays so for that time, too, as the rest of it may come. Other agents are told of it,
 * and say which traces they keep.
 *
 * One owner, no lock.
 */
#ifndef QUEUE_UNDECIDED_H
#define QUEUE_UNDECIDED_H

#include "queue/keep.h"

struct undecided;

/* For an output with this `keep`; NULL if it decides for each span by itself. */
struct undecided *undecided_create(const struct keep *keep);

/* Other agents, or other inputs of this one, want traces (wanted.h): these are kept from here on, too. */
void undecided_hear(struct undecided *undecided, int64_t now);

/* How many spans were kept since it was last asked, that were only kept for what another agent said. */
uint32_t undecided_asked(struct undecided *undecided);

/* @undecided may be NULL. */
void undecided_destroy(struct undecided *undecided);

/* So many spans wait. */
uint32_t undecided_count(const struct undecided *undecided);

/* Looks at spans that came at @now (CLOCK_MONOTONIC ns), in any order: the traces of those that are kept for
 * what they are, with an error or slow, are kept from here on. */
void undecided_look(struct undecided *undecided, const struct trait *traits, uint32_t count, int64_t now);

/* The spans that waited and are kept now, the caller's; NULL if there is none. */
struct batch *undecided_take(struct undecided *undecided);

/* Chooses among spans that undecided_look has seen: the batch of those that are kept, the caller's, or NULL
 * if all are. The others wait from here on. */
struct batch *undecided_choose(
	struct undecided *undecided, const struct batch *items, const struct trait *traits, int64_t now);

/* Lets those go whose time is over, or, with @all, all; returns how many. *@early counts those that went
 * before their time, for want of memory, since it was last asked. */
uint32_t undecided_expire(struct undecided *undecided, int64_t now, bool all, uint32_t *early);

#endif
