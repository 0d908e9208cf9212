/* SPDX-License-Identifier: BSD-2-Clause */
/* Why something of Kafka cannot be had. */
#ifndef OUTPUT_KAFKA_WHY_H
#define OUTPUT_KAFKA_WHY_H

#include "core/fault.h"

/* Why something cannot be had, in one sentence. */
struct kafka_why {
	enum fault fault;
	char words[512];
};

#endif
