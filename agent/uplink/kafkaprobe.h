/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe (probe.h) of Kafka: one message to the topic, to see whether the brokers keep it. */
#ifndef UPLINK_KAFKAPROBE_H
#define UPLINK_KAFKAPROBE_H

#include <event2/event.h>

#include "uplink/probe.h"
#include "uplink/uplink.h"

struct kafkaprobe;

/* Starts; the options and @run are borrowed for the probe's life. When all is over, @ended is called with
 * @data from the loop, once. */
struct kafkaprobe *kafkaprobe_create(
	struct event_base *base, const struct uplink_options *options, const struct run *run);
void kafkaprobe_on_end(struct kafkaprobe *probe, void (*ended)(void *data), void *data);

const struct probe_result *kafkaprobe_result(const struct kafkaprobe *probe);

/* At any time but from @ended. */
void kafkaprobe_destroy(struct kafkaprobe *probe);

#endif
