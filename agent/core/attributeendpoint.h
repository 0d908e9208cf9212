/* SPDX-License-Identifier: BSD-2-Clause */
/* What attributes of OpenTelemetry's say of endpoints, as Zipkin has them: for whoever reads some. */
#ifndef CORE_ATTRIBUTEENDPOINT_H
#define CORE_ATTRIBUTEENDPOINT_H

#include "core/span.h"

/* Whether the attribute of the span, whose kind is known, is one of those that encode/otlp.h makes of its
 * remote endpoint, which it is then taken into. */
bool endpoint_take_remote(struct span *span, const struct tag *tag);

/* The same of an attribute of the resource: the local endpoint, the program, or the process's number. */
bool endpoint_take_process(struct span *span, const struct tag *tag);

#endif
