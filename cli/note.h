/* SPDX-License-Identifier: BSD-2-Clause */
/* The annotations of a version 1 span, read and put in order: what its conversion works with. */
#ifndef NOTE_H
#define NOTE_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "span2.h"
#include "zipkin_zipkin_core_types.h"

/* An annotation of either sort, as the wire has it. */
struct note {
	guint order;
	int64_t timestamp;
	const char *text; /* the value, or the key; borrowed from the version 1 span, as the next */
	const ZipkinBinaryAnnotation *binary;
	struct span2_endpoint host;
	bool has_host;
};

/*
 * Return arrays of struct note, the caller's to unref before the span's end: annotations by time, and binary
 * annotations by key. Of the latter, strings are tags, and a true value under an address's key is an address;
 * the rest Zipkin does not take.
 */
GArray *note_read_annotations(const ZipkinSpan *span);
GArray *note_read_binaries(const ZipkinSpan *span);

/* Whether it is the key of an address: "ca", "sa" or "ma". */
bool note_is_address(const char *key);

/* Names are valid UTF-8 and in lower case; of an empty one NULL comes back. The caller's to g_free. */
char *note_copy_name(const char *name);

#endif
