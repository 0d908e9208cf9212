/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The answer to a POST of OTLP: HTTP's, whose body is an ExportTraceServiceResponse, or a Status that says
 * what is wrong. The rules are those of the OTLP specification.
 */
#ifndef NET_OTLPREPLY_H
#define NET_OTLPREPLY_H

#include "net/wire.h"

/* As a wire's get_reply. */
enum reply_kind otlpreply_read(const uint8_t *data, size_t size, struct reply *reply);

#endif
