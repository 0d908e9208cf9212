/* SPDX-License-Identifier: BSD-2-Clause */
/* What type.c, whose descriptor this is for, takes of the other files of Kafka. */
#ifndef OUTPUT_KAFKA_INNER_H
#define OUTPUT_KAFKA_INNER_H

#include "output/uplink/uplinktype.h"

/* NULL, having logged why, if the files of TLS do not do. */
struct uplink *kafkauplink_create(
	struct event_base *base, struct queue *queue, const struct uplink_options *options);

/* One message to the topic, whichever broker has it, to see whether the brokers keep it. */
size_t kafkaprobe_begin(struct event_base *base, const struct uplink_options *options, const struct run *run,
	struct probe *probes[ADDRESSES_MAX]);

#endif
