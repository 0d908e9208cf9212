/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reload makes a new configuration of the running one and of the files as they are now: nothing is written
 * into the running one, as other threads read it.
 */
#ifndef CONFIG_MERGE_H
#define CONFIG_MERGE_H

#include <glib.h>

#include "config/change.h"
#include "config/config.h"

/*
 * Makes @merged, for which config_free is due: @fresh, but with the values of @running for keys that need a
 * restart. The outputs are those of @fresh; one that did not deliver in @running (it is new, or its type was
 * none) is as in @fresh altogether. What does not fit the former is made smaller, so that @merged passes
 * config_check as both do; but for directories: two that differ in @fresh may be one below the state
 * directory of @running.
 */
void config_merge(struct config *merged, const struct config *running, const struct config *fresh);

/* What the keys that differ ask for, together (enum config_change); of all but the outputs', and of one
 * output. */
unsigned config_changes(const struct config *one, const struct config *other);
unsigned config_output_changes(const struct output_config *one, const struct output_config *other);

/* The keys that config_merge did not take as they are in @fresh, each as "`memory` in [session]";
 * g_ptr_array_unref is due. */
GPtrArray *config_waiting(const struct config *merged, const struct config *fresh);

#endif
