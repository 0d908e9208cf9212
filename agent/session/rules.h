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

/* A list of struct rule, to be unreffed; and a rule at its end, which is enabled and of all levels. */
GPtrArray *rules_create(void);
struct rule *rules_add(GPtrArray *rules, const char *name, enum lttng_event_type type, const char *filter);

/* What [events] asks for; kernelrules.h has what [kernel] does. */
GPtrArray *rules_of_events(const struct config *config);

/* What the channel has; NULL with a negative @code if LTTng does not tell. */
GPtrArray *rules_list(struct lttng_handle *handle, const char *channel, int *code);

/* Finds the one that is as a rule but for being enabled: the first, if there are more. To be unreffed. */
GHashTable *rules_index(const GPtrArray *rules);

/* These return 0, or a negative code. Disabling marks all of @rules that have the name. */
int rule_enable(struct lttng_handle *handle, const char *channel, const struct rule *rule);
int rule_disable(
	struct lttng_handle *handle, const char *channel, const struct rule *rule, const GPtrArray *rules);

#endif
