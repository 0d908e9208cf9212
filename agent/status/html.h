/* SPDX-License-Identifier: BSD-2-Clause */
/* HTML from text that may be anything: programs choose what their spans are called. */
#ifndef STATUS_HTML_H
#define STATUS_HTML_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Appends a text that is ours, as it stands. */
void html_put(struct buffer *out, const char *html);

/*
 * Appends text that is not ours, for an element or an attribute in double quotes: nothing in it is markup,
 * controls are shown as pictures of them, and what turns the direction of the text around it as U+FFFD.
 */
void html_text(struct buffer *out, const char *text);

/* At most so many bytes of a text of @size, in the direction that it has, whatever is around it, and "…" for
 * the rest. */
void html_shown(struct buffer *out, const char *text, size_t size, size_t most);

/* A name in the direction that it has, whatever is around it. @none is shown for "" and NULL. */
void html_name(struct buffer *out, const char *name, const char *none);

/* The same of a name that may be long: its first 120 bytes. */
void html_short_name(struct buffer *out, const char *name, const char *none);

/* Appends part of a URL's query, percent-encoded. */
void html_query(struct buffer *out, const char *text);

/* "1.23 ms" of µs, and "–" of what is not known; "1,234,567"; "12.3" or "1,235". */
void html_time(struct buffer *out, double us);
void html_count(struct buffer *out, uint64_t count);
void html_rate(struct buffer *out, double rate);

#endif
