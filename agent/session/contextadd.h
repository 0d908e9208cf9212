/* SPDX-License-Identifier: BSD-2-Clause */
/* The contexts of [events], as LTTng adds them. */
#ifndef SESSION_CONTEXTADD_H
#define SESSION_CONTEXTADD_H

#include <lttng/lttng.h>

#include "config/config.h"
#include "core/reason.h"

/*
 * The contexts that this machine has, as text: all but the counters that the kernel does not let us read. Had
 * one of those been added, programs that may not read it either would record nothing at all, no span either
 * (LTTng 2.13). The caller's; @problem names the first that is left out.
 */
char *contexts_usable(const struct config *config, struct problem *problem);

/* Adds them to a channel; 0, or the first negative code. */
int contexts_add(const char *usable, struct lttng_handle *handle, const char *channel);

#endif
