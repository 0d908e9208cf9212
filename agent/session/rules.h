/* SPDX-License-Identifier: BSD-2-Clause */
/* LTTng's rules, which say what events a channel has: those that the configuration asks for, and those that
 * are there. A rule cannot be removed, but disabled, which all of one name are together. */
#ifndef SESSION_RULES_H
#define SESSION_RULES_H

#include <stdbool.h>

#include <glib.h>
#include <lttng/lttng.h>

#include "config/config.h"

struct rule {
	char *name;
	enum lttng_event_type type;
	enum lttng_loglevel_type level_type;
	int level;
	char *filter; /* "" for none */
	bool enabled;
};

/* Lists of struct rule, to be unreffed: what [events] and [kernel] ask for, all of it enabled. */
GPtrArray *rules_of_events(const struct config *config);
GPtrArray *rules_of_kernel(const struct config *config);

/* What the channel has; NULL with a negative @code if LTTng does not tell. */
GPtrArray *rules_list(struct lttng_handle *handle, const char *channel, int *code);

/* The one that is as @rule but for being enabled, or NULL. */
struct rule *rules_find(const GPtrArray *rules, const struct rule *rule);

/* These return 0, or a negative code. Disabling marks all of @rules that have the name. */
int rule_enable(struct lttng_handle *handle, const char *channel, const struct rule *rule);
int rule_disable(
	struct lttng_handle *handle, const char *channel, const struct rule *rule, const GPtrArray *rules);

#endif
