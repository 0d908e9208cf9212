/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the agent of this node over its control socket. */
#ifndef ASK_AGENT_H
#define ASK_AGENT_H

#include <stdbool.h>

#include "base/buffer.h"

/* Whose agent it is, as far as the caller knows: it is told how to start it. */
enum agent_kind { AGENT_ANY, AGENT_OF_SYSTEM, AGENT_OF_USER };

/*
 * Gets @page of the agent whose control socket is @path, in @body, followed by a NUL. Returns an exit code,
 * having logged what is wrong if it is not 0.
 */
int ask_agent(const char *path, enum agent_kind kind, const char *page, struct buffer *body);

/* The same for an order, which the agent takes from root, and from the user that it runs as. */
int order_agent(const char *path, enum agent_kind kind, const char *page, struct buffer *body);

/*
 * The same for a page without an end: what has come of the body is in @body, and *@fd is where more comes.
 * @quiet: why there is no such answer is not logged.
 */
int ask_agent_open(
	const char *path, enum agent_kind kind, const char *page, bool quiet, struct buffer *body, int *fd);

#endif
