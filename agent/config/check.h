/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules that no single key shows. */
#ifndef CONFIG_CHECK_H
#define CONFIG_CHECK_H

#include <stddef.h>

#include "config/config.h"

/* Returns 0, or -1 having logged every rule that is broken, with the line that broke it. */
int config_check(const struct config *config);

/* The most that keys may have beside others of which a change needs a restart (merge.h) */
uint64_t check_max_pending(const struct config *config);
uint64_t check_batch_size(const struct output_config *output);

/* For the rules of a type of output (outputtype.h) */

/* One for several keys of an output; the message ends with the section. */
struct rule {
	bool broken;
	const char *keys[4], *message;
};

/* 0, or -1 having logged those that are broken, each with the line that was set last of its keys. */
int check_rules(const struct output_config *output, const struct rule *rules, size_t count);

/* The later of @one and where the key was set. */
const struct config_origin *check_later(const struct config_origin *one, const struct config_origin *origins,
	const char *section, const char *name);

/* An output to @listener, the agent's own intake by the type's key of [input], would send the same spans for
 * ever: 0, or -1 having logged that it does. */
int check_circle(const struct config *config, const struct output_config *output, const char *listener);

/* Logs it, and returns -1. */
int check_broken(const struct config_origin *at, const char *message, const char *title);

#endif
