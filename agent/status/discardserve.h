/* SPDX-License-Identifier: BSD-2-Clause */
/* The control socket's only order: to give up what waits in a spool. See discardtalk.h. */
#ifndef STATUS_DISCARDSERVE_H
#define STATUS_DISCARDSERVE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "output/outputs.h"

/* Who asks: the user at the other end of a connection @fd on the control socket, if that can be known. */
bool discardserve_peer(int fd, unsigned *user);

/*
 * Does what @query says, if it is an @order, or reads how that goes. Only root, and the user that the agent
 * runs as, may order it: @user is NULL if it is not known who asks. Returns the HTTP code, with the answer,
 * or why there is none, in @body.
 */
int discardserve(const struct outputs *outputs, const char *query, bool order, const unsigned *user,
	struct buffer *body);

#endif
