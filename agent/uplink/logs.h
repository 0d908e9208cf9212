/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Messages as an ExportLogsServiceRequest of OTLP. Such a request differs from that of spans in nothing but
 * what its innermost parts are, so wire/otlprequest.h makes it: of events, whose items are LogRecords
 * already, without further ado; of messages, once they are such items.
 */
#ifndef UPLINK_LOGS_H
#define UPLINK_LOGS_H

#include "wire/payload.h"

/* @host as in wire/otlprequest.h. */
struct payload *logs_of_messages(const char *host);

#endif
