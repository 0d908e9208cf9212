/* SPDX-License-Identifier: BSD-2-Clause */
/* Payloads (wire/payload.h) for the formats of batches. */
#ifndef UPLINK_PAYLOADS_H
#define UPLINK_PAYLOADS_H

#include "queue/batch.h"
#include "wire/payload.h"

/* That holds items of the format; messages as those of OTLP's logs. @gzipped: it goes to a server in gzip. */
struct payload *payload_create(enum batch_format format, bool gzipped);

/*
 * Messages as an ExportLogsServiceRequest of OTLP. Such a request differs from that of spans in nothing but
 * what its innermost parts are, so wire/otlprequest.h makes it: of events, whose items are LogRecords
 * already, without further ado; of messages, once they are such items. @host as in wire/otlprequest.h.
 */
struct payload *payload_create_logs(const char *host);

#endif
