/* SPDX-License-Identifier: BSD-2-Clause */
/* What the gateway asks the store, and how the trace travels along: the context is a part of the message. */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdint.h>

#include <blkin/blkin.h>

struct request {
	struct blkin_context_packed context;
	char object[32];
	uint32_t bytes;
} __attribute__((packed));

struct answer {
	uint32_t written;
} __attribute__((packed));

#endif
