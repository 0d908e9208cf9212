/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * By way of whom spans come, for agents that are older than trails, who notice a circle by that. Anybody can
 * tell any number, so newer ones go by each Scribe item's trail (net/trail.h), and only pass numbers on; and
 * what comes by OTLP, which has no trail, is looked at more closely for our own number (inlet/otlp/circle.c).
 *
 * Each agent has a number of its own, drawn at its start. One that takes spans from others tells, with what
 * it sends on, its number, and the numbers of those that it has spans of. An agent of before that is
 * told its own number is its own sender. The numbers of the last minute are remembered, so a circle that was
 * undone is forgotten.
 *
 * All functions may be called from any thread.
 */
#ifndef CORE_VIA_H
#define CORE_VIA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As many numbers as are kept, and told. */
#define VIA_MAX 256

/* Draws the number; from now on numbers are told. */
void via_begin(void);

/* A number was told; @now is CLOCK_MONOTONIC's. */
void via_note(uint64_t number, int64_t now);

/* Whether it is our own. */
bool via_is_own(uint64_t number);

/* Those to tell, our own being the first; none before via_begin. Returns how many. */
size_t via_read(uint64_t numbers[VIA_MAX], int64_t now);

#endif
