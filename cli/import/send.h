/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends traces, through the agent's own code, to the outputs: in a child process, which babeltrace2 may end.
 */
#ifndef IMPORT_SEND_H
#define IMPORT_SEND_H

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "config/config.h"
#include "core/ledger.h"
#include "import/lines.h"
#include "print_spans.h"

#define SEND_ERROR_SIZE 512

/* What became of the events and spans; zeroed if it is not known. */
struct import_result {
	struct ledger rows;
	uint64_t printed; /* spans, */
	uint64_t events_printed;
	uint64_t events_too_large; /* for that */
	struct lines_counts lines;
	size_t outputs;
	struct {
		char name[64];
		int64_t row[ACCOUNT_ROWS];
	} output[CONFIG_LANES_MAX]; /* their lanes */
};

/* Where spans and events go. */
struct send_to {
	const struct config *config; /* to its outputs, and assembled as it says */
	bool print;                  /* or to standard output instead: print_spans.h */
	struct span_printer_options printing;
	bool events;  /* of which only events are printed: import/printevents.h */
	char **names; /* patterns of those that are wanted, ended by NULL; NULL: all */
};

enum send_end {
	SEND_UNABLE,  /* the outputs cannot be used, which is logged */
	SEND_DONE,    /* all is read, and the outputs have it or refused it, or it is printed */
	SEND_DAMAGED, /* the same up to some moment, from which on nothing of any trace is read; the error
			 says why */
	SEND_DIED     /* something is sent, nobody knows what */
};

/*
 * Sends @traces (of char *), merged by time: at most @limit steps of a reader, or all if 0. It waits while a
 * collector is away. @error has room for SEND_ERROR_SIZE.
 */
enum send_end send_traces(const struct send_to *to, const GPtrArray *traces, unsigned long limit,
	struct import_result *result, char *error);

/* The same for files of spans in JSON; SEND_DAMAGED: some cannot be read, which is logged. */
enum send_end send_lines(
	const struct send_to *to, const GPtrArray *files, struct import_result *result, char *error);

#endif
