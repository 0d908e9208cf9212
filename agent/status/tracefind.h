/* SPDX-License-Identifier: BSD-2-Clause */
/* A trace whose spans the agent still has, by the query of an address: its page's, and its JSON's. */
#ifndef STATUS_TRACEFIND_H
#define STATUS_TRACEFIND_H

#include <stdint.h>

#include <glib.h>

#include "base/buffer.h"
#include "stats/traces.h"
#include "status/trace/answer.h"

#define TRACE_PATH "/trace"
#define TRACE_JSON_PATH "/trace.json"
#define TRACE_WHY_PATH "/why.json"

struct found_trace {
	char id[33];          /* as it is written */
	GPtrArray *spans;     /* of struct span2, as they came; owned */
	uint32_t missed;      /* spans that came, too */
	struct answer answer; /* where its time went, as the flight recorder has kept it */
};

/* Finds the trace of `id`, 16 or 32 hexadecimal digits: NULL, and found_trace_clear ends it; or what is wrong
 * with the query, a sentence without an end. @answers: the flight recorder's folder, whose spans of the trace
 * are the trace's, too. */
const char *tracefind(
	struct found_trace *found, struct traces *traces, const char *answers, const char *query);
void found_trace_clear(struct found_trace *found);

/* Its spans as a list in Zipkin's version 2 JSON: what POST /api/v2/spans takes. */
void tracefind_put_json(struct buffer *out, const struct found_trace *found);

#endif
