/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A span of ours that also has links and so on, in terms of OpenTelemetry alone: attributes for what Zipkin
 * has a field for, and a status instead of the tag `error`. For otlp.c.
 */
#ifndef ENCODE_OTLPOURS_H
#define ENCODE_OTLPOURS_H

#include "core/iptext.h"
#include "core/span.h"

struct otlpours {
	struct span span; /* it borrows from the one it was made of, and from here */
	struct span_more more;
	struct tag *tags;
	char address[IPTEXT_MAX], port[8];
};

void otlpours_make(struct otlpours *ours, const struct span *span);
void otlpours_free(struct otlpours *ours);

#endif
