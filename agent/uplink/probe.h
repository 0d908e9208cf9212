/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A probe: one call to one server, to see what comes of it, on the way that an uplink takes: look-up, TLS,
 * wire and compression. It needs no queue, and nothing is tried again.
 */
#ifndef UPLINK_PROBE_H
#define UPLINK_PROBE_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "base/address.h"
#include "core/fault.h"
#include "net/tls.h"
#include "uplink/uplink.h"
#include "wire/wire.h"

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

struct probe;

/*
 * Starts. @tls is NULL for plain TCP; it and @run are borrowed for the probe's life. All is over within the
 * options' timeout, and a little that lets what has the same limit say more exactly what is wrong; @ended is
 * then called from the loop, once.
 */
struct probe *probe_create(struct event_base *base, const struct uplink_options *options,
	const struct address *address, struct tls *tls, const struct run *run);
void probe_on_end(struct probe *probe, void (*ended)(void *data), void *data);

const struct probe_result *probe_result(const struct probe *probe);

/* At any time but from @ended; the loop has to run once more after it. */
void probe_destroy(struct probe *probe);

#endif
