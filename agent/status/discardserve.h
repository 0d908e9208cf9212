/* SPDX-License-Identifier: BSD-2-Clause */
/* An order on the control socket: to give up what waits in a spool. See discardtalk.h. */
#ifndef STATUS_DISCARDSERVE_H
#define STATUS_DISCARDSERVE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "output/outputs.h"

/*
 * Does what @query says, as @user orders, or, if that is NULL, reads how it goes. Returns the HTTP code, with
 * the answer, or why there is none, in @body.
 */
int discardserve(const struct outputs *outputs, const char *query, const unsigned *user, struct buffer *body);

#endif
