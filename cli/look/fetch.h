/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the agent for its statistics in a thread, so that an agent that hangs holds up no key. */
#ifndef LOOK_FETCH_H
#define LOOK_FETCH_H

#include <stdbool.h>

#include "base/buffer.h"

struct fetch;

/* The path is borrowed. NULL if there can be no thread. */
struct fetch *fetch_create(const char *path);

/* Asks, unless it does already. */
void fetch_begin(struct fetch *fetch);

/* Becomes readable when there is an answer. */
int fetch_fd(const struct fetch *fetch);

/* Whether there is an answer: then it is in @answer, which is empty if the agent gave none. */
bool fetch_take(struct fetch *fetch, struct buffer *answer);

/* Waits for no answer. */
void fetch_destroy(struct fetch *fetch);

#endif
