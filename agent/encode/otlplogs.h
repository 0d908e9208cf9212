/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Log records of OTLP as messages: each goes on byte for byte, with the process and the scope that it came
 * with. A message of the category OTLPLOGS_CATEGORY is an ExportLogsServiceRequest
 * (opentelemetry/proto/collector/logs/v1) with one record, in Protocol Buffers, so that whoever reads
 * messages needs nothing but OTLP's own code; an output of OTLP takes it apart again.
 */
#ifndef ENCODE_OTLPLOGS_H
#define ENCODE_OTLPLOGS_H

#include "base/buffer.h"
#include "encode/otlpcheck.h"
#include "net/otlpitem.h"

#define OTLPLOGS_CATEGORY "otlp-logs"

/* As otlptraces_check. */
bool otlplogs_check(const uint8_t *request, size_t size, struct otlpcheck_found *found);

/*
 * Calls @take with each record of a request that otlplogs_check has found good, as a request of its own,
 * which is valid during the call. @room is overwritten.
 */
void otlplogs_read(const uint8_t *request, size_t size, struct buffer *room,
	void (*take)(void *data, const uint8_t *payload, size_t size), void *data);

/* What a message that otlplogs_read has made has in it; borrowed. False if it is none of these. */
bool otlplogs_split(const uint8_t *payload, size_t size, struct otlpitem *item);

#endif
