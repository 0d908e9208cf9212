/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/rules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/globs.h"
#include "config/pairrules.h"

/* The least important level: LTTng has several kinds of debug, and all of them are meant. */
#define LEVEL_DEBUG 7

static void rule_free(void *data)
{
	struct rule *rule = data;

	g_free(rule->name);
	g_free(rule->filter);
	g_free(rule);
}

GPtrArray *rules_create(void)
{
	return g_ptr_array_new_with_free_func(rule_free);
}

struct rule *rules_add(GPtrArray *rules, const char *name, enum lttng_event_type type, const char *filter)
{
	struct rule *rule = g_new0(struct rule, 1);

	rule->name = g_strdup(name);
	rule->type = type;
	rule->level_type = LTTNG_EVENT_LOGLEVEL_ALL;
	rule->level = -1;
	rule->filter = g_strdup(filter);
	rule->enabled = true;
	g_ptr_array_add(rules, rule);
	return rule;
}

static bool has_rule(const GPtrArray *rules, const char *name)
{
	for (guint i = 0; i < rules->len; i++)
		if (!strcmp(((const struct rule *)rules->pdata[i])->name, name))
			return true;
	return false;
}

/* Both halves of a pair, whatever `level` and `filter` say: one alone is of no use. */
static void add_pairs(GPtrArray *rules, const char *text)
{
	struct pair_rules pairs;
	char error[512];

	pair_rules_parse(&pairs, text, error, sizeof(error));
	for (size_t i = 0; i < pairs.count; i++)
		for (int exits = 0; exits < 2; exits++) {
			const char *name = exits ? pairs.of[i].exit : pairs.of[i].enter;
			struct rule *rule;

			if (pairs.of[i].kernel || has_rule(rules, name))
				continue;
			rule = rules_add(rules, name, LTTNG_EVENT_TRACEPOINT, "");
			rule->level_type = LTTNG_EVENT_LOGLEVEL_RANGE;
			rule->level = (int)LTTNG_LOGLEVEL_DEBUG;
		}
}

/*
 * Never all levels: once an event is enabled for all, the session daemon (2.13) takes emerg, which is 0, for
 * the same rule in one place and for another in the next, and aborts.
 */
GPtrArray *rules_of_events(const struct config *config)
{
	GPtrArray *rules = rules_create();
	g_auto(GStrv) names = globs_split(config->event_names);

	for (char **name = names; *name; name++) {
		struct rule *rule = rules_add(rules, *name, LTTNG_EVENT_TRACEPOINT, config->event_filter);

		rule->level_type = LTTNG_EVENT_LOGLEVEL_RANGE;
		rule->level = config->event_level >= LEVEL_DEBUG ? (int)LTTNG_LOGLEVEL_DEBUG
								 : (int)config->event_level;
	}
	add_pairs(rules, config->event_spans);
	return rules;
}

GPtrArray *rules_list(struct lttng_handle *handle, const char *channel, int *code)
{
	GPtrArray *rules = rules_create();
	struct lttng_event *events = NULL;
	int count = lttng_list_events(handle, channel, &events);

	*code = MIN(count, 0);
	for (int i = 0; i < count; i++) {
		const char *filter = NULL;
		struct rule *rule;

		lttng_event_get_filter_expression(&events[i], &filter);
		rule = rules_add(rules, events[i].name, events[i].type, filter ? filter : "");
		rule->level_type = events[i].loglevel_type;
		rule->level = events[i].loglevel;
		rule->enabled = events[i].enabled != 0;
	}
	free(events);
	if (count < 0)
		g_clear_pointer(&rules, g_ptr_array_unref);
	return rules;
}

/* The level counts where the type says that there is one. */
static gboolean is_same(gconstpointer one_data, gconstpointer other_data)
{
	const struct rule *one = one_data, *other = other_data;

	return !strcmp(one->name, other->name) && one->type == other->type &&
	       one->level_type == other->level_type &&
	       (one->level_type == LTTNG_EVENT_LOGLEVEL_ALL || one->level == other->level) &&
	       !strcmp(one->filter, other->filter);
}

static guint hash_of_name(gconstpointer rule)
{
	return g_str_hash(((const struct rule *)rule)->name);
}

GHashTable *rules_index(const GPtrArray *rules)
{
	GHashTable *index = g_hash_table_new(hash_of_name, is_same);

	for (guint i = rules->len; i-- > 0;) /* the first of those that are alike stays */
		g_hash_table_replace(index, rules->pdata[i], rules->pdata[i]);
	return index;
}

static struct lttng_event *event_of(const struct rule *rule)
{
	struct lttng_event *event = lttng_event_create();

	if (!event)
		return NULL;
	event->type = rule->type;
	event->loglevel_type = rule->level_type;
	event->loglevel = rule->level;
	snprintf(event->name, sizeof(event->name), "%s", rule->name);
	if (rule->type == LTTNG_EVENT_FUNCTION)
		snprintf(event->attr.probe.symbol_name, sizeof(event->attr.probe.symbol_name), "%s",
			rule->name);
	return event;
}

int rule_enable(struct lttng_handle *handle, const char *channel, const struct rule *rule)
{
	struct lttng_event *event = event_of(rule);
	int code;

	if (!event)
		return -LTTNG_ERR_NOMEM;
	code = lttng_enable_event_with_filter(handle, event, channel, *rule->filter ? rule->filter : NULL);
	lttng_event_destroy(event);
	return code == -LTTNG_ERR_UST_EVENT_ENABLED || code == -LTTNG_ERR_KERN_EVENT_EXIST ? 0 : code;
}

int rule_disable(
	struct lttng_handle *handle, const char *channel, const struct rule *rule, const GPtrArray *rules)
{
	struct lttng_event *event = event_of(rule);
	int code;

	if (!event)
		return -LTTNG_ERR_NOMEM;
	event->loglevel_type = LTTNG_EVENT_LOGLEVEL_ALL;
	event->loglevel = -1;
	/* of programs' events LTTng wants to hear of no type (2.13) */
	if (handle->domain.type == LTTNG_DOMAIN_UST)
		event->type = LTTNG_EVENT_ALL;
	code = lttng_disable_event_ext(handle, event, channel, NULL);
	lttng_event_destroy(event);
	for (guint i = 0; code == 0 && i < rules->len; i++) {
		struct rule *other = rules->pdata[i];

		if (other->type == rule->type && !strcmp(other->name, rule->name))
			other->enabled = false;
	}
	return code;
}
