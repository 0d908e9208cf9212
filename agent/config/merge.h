/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reload makes a new configuration of the running one and of the files as they are now: nothing is written
 * into the running one, as other threads read it.
 */
#ifndef CONFIG_MERGE_H
#define CONFIG_MERGE_H

#include <glib.h>

#include "config/config.h"

/* What a changed key asks for. */
enum config_change {
	CONFIG_NEEDS_RESTART = 0,
	CONFIG_CHANGES_HTTP = 1,
	CONFIG_CHANGES_COLLECTOR = 2,
	CONFIG_CHANGES_SPANS = 4, /* their assembly */
	CONFIG_CHANGES_LOG = 32,
	CONFIG_CHANGES_READ = 64, /* nobody needs to be told: it is read anew each time that it is used */
	CONFIG_CHANGES_THRESHOLDS = 128,
	CONFIG_CHANGES_SESSION = 1024, /* what is recorded beside spans */
	/* an output's */
	CONFIG_CHANGES_BATCHES = 8,
	CONFIG_CHANGES_UPLINK = 16,
	CONFIG_CHANGES_LANES = 8 | 2,      /* what is delivered at all, and so what the reader encodes */
	CONFIG_CHANGES_FORMAT = 16 | 8 | 2 /* what is sent, what a batch holds, and what the reader encodes */
};

/*
 * Makes @merged, for which config_free is due: @fresh, but with the values of @running for keys that need a
 * restart. The outputs are those of @fresh; one that did not deliver in @running (it is new, or its type was
 * none) is as in @fresh altogether.
 */
void config_merge(struct config *merged, const struct config *running, const struct config *fresh);

/* What the keys that differ ask for, together (enum config_change); of all but the outputs', and of one
 * output. */
unsigned config_changes(const struct config *one, const struct config *other);
unsigned config_output_changes(const struct output_config *one, const struct output_config *other);

/* The keys that config_merge left as they were, each as "`memory` in [session]"; g_ptr_array_unref is due. */
GPtrArray *config_waiting(const struct config *merged, const struct config *fresh);

#endif
