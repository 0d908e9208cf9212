/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe: one call to one server, to see what comes of it, on the way that an uplink takes: look-up, TLS,
 * wire and compression. It needs no queue, and nothing is tried again. A type of output begins it
 * (uplinktype.h).
 */
#ifndef OUTPUT_UPLINK_PROBE_H
#define OUTPUT_UPLINK_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "core/fault.h"
#include "net/wire.h"
#include "output/uplink/uplink.h"

enum probe_end {
	PROBE_OPEN,     /* not yet */
	PROBE_ACCEPTED, /* the server took the spans */
	PROBE_REFUSED,  /* it answered that it does not take these */
	PROBE_LATER,    /* it asks to try later */
	PROBE_FAILED    /* by a fault */
};

struct probe_result {
	const char *server; /* borrowed from the probe, or from its options */
	enum probe_end end;
	enum fault fault; /* of PROBE_FAILED */
	bool unended;     /* the answer had no end */
	int64_t took_ns;
	char words[320]; /* the server's, or what is wrong; may be "" */
};

/* The first member of each type's own. */
struct probe {
	void (*destroy)(struct probe *probe);
	const struct run *run;
	struct event *deadline;
	int64_t started; /* CLOCK_MONOTONIC ns */
	struct probe_result result;
	void (*ended)(void *data);
	void *data;
};

/* All is over within the options' timeout, and a little that lets what has the same limit say more exactly
 * what is wrong; @ended is then called from the loop, once. */
void probe_on_end(struct probe *probe, void (*ended)(void *data), void *data);

/* At any time but from @ended; the loop has to run once more after it. */
void probe_destroy(struct probe *probe);

/* For types: starts the clock, by which @on_deadline is called with the probe. */
void probe_init(struct probe *probe, struct event_base *base, const struct run *run, int64_t limit_ns,
	event_callback_fn on_deadline);

/* The first end counts. */
void probe_end(struct probe *probe, enum probe_end how, enum fault fault, const char *words);

#endif
