/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Of whom the session records: of all processes and users. lttng-track(1) can tell it to record of some only;
 * nothing else shows that it does.
 */
#ifndef SESSION_TRACKING_H
#define SESSION_TRACKING_H

#include "config/config.h"

/* Has the session @name record of all again; if it did not, that is what has @changed. Unless @all is set, a
 * third of it is looked at in each call. Returns 0, or a negative code of LTTng's. The lock of tracing.h is
 * held. */
int tracking_repair(const struct config *config, const char *name, bool all, const char **changed);

#endif
