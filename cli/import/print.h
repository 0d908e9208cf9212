/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin import --print`: the spans of batches on standard output, in the place of the outputs. */
#ifndef IMPORT_PRINT_H
#define IMPORT_PRINT_H

#include <stdbool.h>
#include <stdint.h>

#include "print_spans.h"
#include "queue/batch.h"

struct print;

/* @options as for span_printer_create. */
struct print *print_create(const struct span_printer_options *options);
void print_destroy(struct print *print);

/* Prints the batch's spans. False if there is no point in going on: see print_failed. */
bool print_batch(struct print *print, const struct batch *batch);

/* Prints what might have become larger. */
bool print_end(struct print *print);

/* How many spans were printed, or are held. */
uint64_t print_count(const struct print *print);

/* Standard output takes no more, which is logged; not so if its reader has seen enough. */
bool print_failed(const struct print *print);

#endif
