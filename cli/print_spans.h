/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans on standard output: traces as trees, each once it is complete, or a line of JSON for each span. */
#ifndef PRINT_SPANS_H
#define PRINT_SPANS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "look/style.h"

/* A trace is complete when no span of it has come for so long. */
#define PRINT_SPANS_QUIET_US 1000000

struct span_printer;

struct span_printer_options {
	/* how: a tree for each trace, or in the order in which the spans come: */
	bool json;  /* lines of JSON, Zipkin's version 2 */
	bool lines; /* a line for people */
	struct trace_folding folding;
	/* of the traces that are complete, only those that it wants; NULL: all */
	bool (*wants)(const void *data, const GPtrArray *spans);
	const void *data;
	uint64_t most_traces; /* no more of these are shown; 0: all are */
};

struct span_printer *span_printer_create(const struct span_printer_options *options);

/* Frees what was not shown without showing it. */
void span_printer_destroy(struct span_printer *printer);

/* Takes all of @spans (of struct span2) over. */
void span_printer_add(struct span_printer *printer, GPtrArray *spans);

/* Shows the traces that are complete. Returns the µs until the next will be, or -1 if none is held. */
int64_t span_printer_show_quiet(struct span_printer *printer);

/* Shows all that is held. */
void span_printer_show_all(struct span_printer *printer);

/* The traces that were shown. */
uint64_t span_printer_traces(const struct span_printer *printer);

/*
 * Writes out what was shown, and waits until that is done. Returns false if standard output does not take it:
 * its reader has seen enough, or else the error is logged, and in *@failed.
 */
bool span_printer_write(struct span_printer *printer, bool *failed);

#endif
