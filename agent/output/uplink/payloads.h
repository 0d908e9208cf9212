/* SPDX-License-Identifier: BSD-2-Clause */
/* Payloads (net/payload.h) for the formats of batches. */
#ifndef OUTPUT_UPLINK_PAYLOADS_H
#define OUTPUT_UPLINK_PAYLOADS_H

#include "net/payload.h"
#include "queue/batch.h"

/* That holds items of the format; messages as those of OTLP's logs. @gzipped: it goes to a server in gzip. */
struct payload *payload_create(enum batch_format format, bool gzipped);

/*
 * Messages as an ExportLogsServiceRequest of OTLP. Such a request differs from that of spans in nothing but
 * what its innermost parts are, so net/otlprequest.h makes it: of events, whose items are LogRecords
 * already, without further ado; of messages, once they are such items. @host as in net/otlprequest.h.
 */
struct payload *payload_create_logs(const char *host);

#endif
