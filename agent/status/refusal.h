/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reload that never came about: `blkin validate --reload` refused the new configuration, so the service
 * did not ask the agent to take it. The agent is told, over HTTP on the control socket, so that its status
 * and its metrics show it:
 *
 *     POST /reload/refused
 *
 * The next reload that succeeds ends that.
 */
#ifndef STATUS_REFUSAL_H
#define STATUS_REFUSAL_H

#include <stdbool.h>

#include "base/buffer.h"
#include "status/status.h"

#define REFUSAL_PATH "/reload/refused"

/* @user: who asks; NULL: not known. Returns the HTTP code; @body is the answer. */
int refusal_take(struct reload_state *reload, bool order, const unsigned *user, struct buffer *body);

#endif
