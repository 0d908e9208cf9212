/* SPDX-License-Identifier: BSD-2-Clause */
/* HTML from text that may be anything: programs choose what their spans are called. */
#ifndef STATUS_HTML_H
#define STATUS_HTML_H

#include <stdint.h>

#include "base/buffer.h"

/* Appends a text that is ours, as it stands. */
void html_put(struct buffer *out, const char *html);

/*
 * Appends text that is not ours, for an element or an attribute in double quotes: nothing in it is markup,
 * controls are shown as pictures of them, and what turns the direction of the text around it as U+FFFD.
 */
void html_text(struct buffer *out, const char *text);

/* A name in the direction that it has, whatever is around it. @none is shown for "" and NULL. */
void html_name(struct buffer *out, const char *name, const char *none);

/* Appends part of a URL's query, percent-encoded. */
void html_query(struct buffer *out, const char *text);

/* "1.23 ms" of µs, and "–" of what is not known; "1,234,567"; "12.3" or "1,235". */
void html_time(struct buffer *out, double us);
void html_count(struct buffer *out, uint64_t count);
void html_rate(struct buffer *out, double rate);

#endif
