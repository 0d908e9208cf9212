/* SPDX-License-Identifier: BSD-2-Clause */
/* The kinds of uplinks: to servers (servers.c), to Kafka (kafkauplink.c), and into files (fileuplink.c). Each
 * does what uplink.h says.
 */
#ifndef UPLINK_KINDS_H
#define UPLINK_KINDS_H

#include "uplink/uplink.h"

struct uplink_kind {
	void (*destroy)(struct uplink *uplink);
	void (*wake)(struct uplink *uplink);
	void (*when_drained)(struct uplink *uplink, void (*done)(void *data), void *data);
	void (*read_state)(const struct uplink *uplink, struct uplink_state *state);
};

/* The first member of each kind's own. */
struct uplink {
	const struct uplink_kind *kind;
};

struct uplink *servers_create(
	struct event_base *base, struct queue *queue, const struct uplink_options *options);

/* A probe (probe.h) of each of them; returns how many. */
struct probe;
size_t serverprobe_begin(struct event_base *base, const struct uplink_options *options, const struct run *run,
	struct probe *probes[ADDRESSES_MAX]);

/* NULL, having logged why, if the files of TLS do not do. */
struct uplink *kafkauplink_create(
	struct event_base *base, struct queue *queue, const struct uplink_options *options);

/* NULL, having logged why, if no thread can be had. */
struct uplink *fileuplink_create(
	struct event_base *base, struct queue *queue, const struct uplink_options *options);

#endif
