/* SPDX-License-Identifier: BSD-2-Clause */
/* The agent's state at one moment, as all that tells it has it: status, the page, metrics, the doctor. */
#ifndef STATUS_FACTS_H
#define STATUS_FACTS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "core/ledger.h"
#include "inlet/inputs.h"
#include "output/outputs.h"
#include "stats/monitor.h"
#include "stats/statistics.h"
#include "status/activity.h"
#include "supervise/subscribers.h"
#include "supervise/supervisor.h"

/* So many users that are left out are named. */
#define STATUS_LEFT_OUT_MAX 16

/* What came of the last reload. */
struct reload_state {
	uint64_t failures;
	bool failed;       /* the last one: the configuration is still the old one */
	int64_t succeeded; /* the last that did, or the start; ns since the epoch */
	char waiting[256]; /* changed keys that need a restart; "" for none */
	char *read;        /* sources_hash of what was read last, good or not; owned */
};

/* Where the state is read from; all borrowed. */
struct status_source {
	const struct config *config;
	struct supervisor *supervisor;
	struct inputs *inputs;
	struct outputs *outputs;
	const struct statistics *statistics;
	struct monitor *monitor;
	struct traces *traces; /* NULL: none are kept */
	struct subscribers *subscribers;
	struct activity *activity;
	struct reload_state *reload; /* read, but for what orders.c does */
	const char *http_error;      /* http_error()'s */
	bool forgets;    /* no checkpoint can be kept, although the session should outlive the agent */
	int64_t started; /* ns since the epoch, */
	int64_t begun;   /* and by CLOCK_MONOTONIC */
};

struct status {
	const struct config *config;
	struct ledger rows;
	struct loss lost[LEDGER_ROWS];                     /* of the rows that are losses */
	struct acknowledged acknowledged;                  /* by `blkin status --acknowledge` */
	struct output_state outputs[2 * CONFIG_LANES_MAX]; /* the lanes */
	size_t output_count;                               /* of them are on, */
	size_t leaving_count; /* and these, behind them, were removed and still deliver */
	struct supervisor_state supervisor;
	struct inlet_state inputs[INPUTS]; /* Scribe's first */
	int64_t started, begun;            /* as in the source */
	struct activity_state activity;
	struct canary_state canary;
	struct flight_failure flight;
	int64_t progress;                       /* of the reader */
	uint64_t left_out[STATUS_LEFT_OUT_MAX]; /* users whose packets are; there may be more */
	unsigned left_out_count;
	bool lacks_memory; /* as it takes more than the reader may have */
	const struct reload_state *reload;
	bool forgets;
	bool asks;              /* the doctor asks the session daemon whether it answers */
	const char *http_error; /* why the port does not listen although it should; "" if it does */
	struct monitor *monitor;
	const char *page; /* its address, for who may have it; "" for others, and if there is none */
	bool names;       /* whoever asks may see what spans are called */
};

#endif
