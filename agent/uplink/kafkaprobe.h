/* SPDX-License-Identifier: BSD-2-Clause */
/* A probe (probe.h) of Kafka: one message to the topic, to see whether the brokers keep it. */
#ifndef UPLINK_KAFKAPROBE_H
#define UPLINK_KAFKAPROBE_H

#include <event2/event.h>

#include "uplink/probe.h"

struct probe *kafkaprobe_create(
	struct event_base *base, const struct uplink_options *options, const struct run *run);

#endif
