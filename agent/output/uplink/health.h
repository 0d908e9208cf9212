/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The state of a server, and what the log says of it: a line when something goes wrong, one when it is over,
 * and about refused spans no more than one in a while. If a server comes and goes, the log says so only a few
 * times a minute. No I/O but the log.
 */
#ifndef OUTPUT_UPLINK_HEALTH_H
#define OUTPUT_UPLINK_HEALTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fault.h"
#include "core/kind.h"

struct uplink_server_state;

/* A server that began to fail so often within a minute is unsteady. */
#define HEALTH_FALLS 3

struct health {
	const char *server;         /* borrowed, for the log's lines */
	enum kind kind;             /* of what it takes */
	bool failing;               /* nothing gets through, */
	enum fault fault;           /* because of this; FAULT_NONE otherwise */
	int64_t failing_since;      /* CLOCK_MONOTONIC ns */
	int64_t fell[HEALTH_FALLS]; /* when it began to fail, the latest times; a ring */
	unsigned falls;             /* so many times in all */
	char last[256];             /* why it failed the last time, also when that is over */
	bool failing_told;          /* a line said so, and none yet that it is over */
	uint64_t failures;          /* since then */
	bool said_connected;        /* the first time, for an output that is well from the start */
	bool took;                  /* it has taken something */
	int64_t began;              /* CLOCK_MONOTONIC ns */
	int64_t since;              /* when that line was written, CLOCK_MONOTONIC ns */
	int64_t minute;             /* that began then: */
	uint32_t good_told;         /* in it so many lines said that it is over */
	int64_t refused_said;       /* when the last line about a refused span was written; 0: never */
	uint64_t refused_more;      /* refused since then */
	char error[256];            /* why it is not up; "" if it is */
};

/* What the log calls a server of the output @output: an output that is not [output] is named. */
void health_label(char *label, size_t size, const char *output, const char *server);

/* @server is borrowed. Not up at first. */
void health_init(struct health *health, const char *server, enum kind kind);

/* What the log says that is done while nothing gets through. */
const char *health_waits(enum kind kind);

/* Nothing gets through, because of @fault, which @why says in words; @then says what is done about it. */
void health_failing(struct health *health, enum fault fault, const char *why, const char *then);

/* It takes spans, as far as we know. */
void health_good(struct health *health);

/* It took some. */
void health_took(struct health *health);

/* It is connected, with nothing to send: good, unless its answers were what was wrong. */
void health_connected(struct health *health);

/* Not up, but nothing to worry about. */
void health_idle(struct health *health, const char *why);

/* For the server's state: what is wrong, since when, and how it has been lately. */
void health_read(const struct health *health, struct uplink_server_state *state);

/* The server refused so many spans, in these words. */
void health_refused(struct health *health, uint32_t spans, const char *words);

#endif
