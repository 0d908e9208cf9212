/* SPDX-License-Identifier: BSD-2-Clause */
/* Servers, of which one gets what an output takes: for the types of output that have a wire (uplinktype.h).
 */
#ifndef OUTPUT_SERVER_SERVERS_H
#define OUTPUT_SERVER_SERVERS_H

#include "output/uplink/uplinktype.h"

/* A type's create and probe: it probes each of the servers. */
struct uplink *servers_create(
	struct event_base *base, struct queue *queue, const struct uplink_options *options);
size_t serverprobe_begin(struct event_base *base, const struct uplink_options *options, const struct run *run,
	struct probe *probes[ADDRESSES_MAX]);

#endif
