/* SPDX-License-Identifier: BSD-2-Clause */
/* What a reload has to do about a key that was changed. */
#ifndef CONFIG_CHANGE_H
#define CONFIG_CHANGE_H

/* What a changed key asks for. */
enum config_change {
	CONFIG_NEEDS_RESTART = 0,
	CONFIG_CHANGES_HTTP = 1,
	CONFIG_CHANGES_READER = 2,
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

#endif
