/* SPDX-License-Identifier: BSD-2-Clause */
/* The page's top: how the agent is, what there is to do, what was lost, and where spans go. */
#ifndef STATUS_PAGESTATE_H
#define STATUS_PAGESTATE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "status/status.h"

/* @above: spans are above their thresholds, which is said elsewhere, and is none of the agent's faults. */
void pagestate_write(struct buffer *out, const struct status *status, bool above);

#endif
