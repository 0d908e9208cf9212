/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The forms in which a scraper takes metrics: Prometheus's text (version 0.0.4), and OpenMetrics (1.0), which
 * has exemplars too.
 */
#ifndef STATUS_EXPOSITION_H
#define STATUS_EXPOSITION_H

#include "base/buffer.h"

enum exposition { EXPOSITION_TEXT, EXPOSITION_OPENMETRICS };

/* What a request's Accept header prefers; NULL: it has none. */
enum exposition exposition_wanted(const char *accept);

const char *exposition_type(enum exposition form);

/* Appends a metric's head. @type: "counter", of a name that ends in _total, "gauge", "histogram". */
void exposition_head(
	struct buffer *out, enum exposition form, const char *name, const char *type, const char *help);

/*
 * Appends a label's value, which may have any characters, as they are shown. Texts that are shown alike are
 * one value: the names of the statistics are so from the start, or two series would be one.
 */
void exposition_label(struct buffer *out, const char *text);

/* Appends all that is in @text, in Prometheus's text, as OpenMetrics, but for the end. */
void exposition_convert(struct buffer *out, const struct buffer *text);

#endif
