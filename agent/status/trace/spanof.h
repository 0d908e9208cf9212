/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef STATUS_TRACE_SPANOF_H
#define STATUS_TRACE_SPANOF_H

#include "core/span.h"
#include "status/trace/span2.h"

/* A copy of a span that has no core annotations any more, as spanread_json reads it; span2_free. */
struct span2 *spanof(const struct span *span);

#endif
