/* SPDX-License-Identifier: BSD-2-Clause */
/* How a message to Kafka ended. */
#ifndef OUTPUT_KAFKA_MESSAGEEND_H
#define OUTPUT_KAFKA_MESSAGEEND_H

#include <stdbool.h>

#include "core/fault.h"

enum message_result {
	MESSAGE_KEPT,    /* by the brokers */
	MESSAGE_REFUSED, /* for what it is: it is too large, or not what the topic takes */
	MESSAGE_FAILED   /* by a fault; it may be sent again */
};

struct message_end {
	enum message_result result;
	bool maybe_kept;  /* of MESSAGE_FAILED: it may have arrived */
	bool maybe_twice; /* of MESSAGE_KEPT: it may be there twice */
	enum fault fault; /* the same; FAULT_NONE: it was taken back */
	char words[256];  /* unless it is kept */
};

#endif
