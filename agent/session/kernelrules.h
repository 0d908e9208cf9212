/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What [kernel] asks for, as rules. What the agent and LTTng do themselves is left out in the kernel already,
 * by filters: recorded, it would cause more of it. Events about other processes are kept. With `own = yes`,
 * or `mode = flight`, nothing is left out.
 */
#ifndef SESSION_KERNELRULES_H
#define SESSION_KERNELRULES_H

#include <glib.h>

#include "config/config.h"

/*
 * A list of struct rule, to be unreffed. A pattern that reaches events with a filter of their own becomes the
 * names that it stands for among @names (const char *): those that the tracer has, or the channel.
 */
GPtrArray *kernelrules_list(const struct config *config, const GPtrArray *names);

#endif
