/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What LTTng can do from 2.15 on, taken from its library at run time: one binary is for all versions, and an
 * older library has no such calls, nor do its headers declare them.
 */
#ifndef SESSION_NEWER_H
#define SESSION_NEWER_H

#include <stdbool.h>

#include <lttng/lttng.h>

/* Whether LTTng gets past an event whose program died in the middle of it. */
bool newer_heals(void);

/* A session that is about to be made is to be written in CTF 1.8, which every babeltrace2 reads. */
void newer_write_ctf_1(struct lttng_session_descriptor *descriptor);

/* A channel of programs' that is about to be made: it heals soon, and harms no program. */
void newer_tune(struct lttng_channel *channel);

#endif
