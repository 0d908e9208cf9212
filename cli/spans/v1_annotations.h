/* SPDX-License-Identifier: BSD-2-Clause */
/* The annotations of a version 1 span, in order, for its conversion to version 2. */
#ifndef SPANS_V1_ANNOTATIONS_H
#define SPANS_V1_ANNOTATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "status/trace/span2.h"
#include "zipkin_zipkin_core_types.h"

/* An annotation of either sort, as the wire has it. */
struct v1_annotation {
	guint order;
	int64_t timestamp;
	const char *text; /* the value, or the key; borrowed from the version 1 span, as the next */
	const ZipkinBinaryAnnotation *binary;
	struct span2_endpoint host;
	bool has_host;
};

/*
 * Return arrays of struct v1_annotation, the caller's to unref before the span's end: annotations by time,
 * and binary annotations by key. Of the latter, strings are tags, and a true value under an address's key is
 * an address; the rest Zipkin does not take.
 */
GArray *v1_read_annotations(const ZipkinSpan *span);
GArray *v1_read_binary_annotations(const ZipkinSpan *span);

/* Whether it is the key of an address: "ca", "sa" or "ma". */
bool v1_is_address_key(const char *key);

/* Names are valid UTF-8 and in lower case; of an empty one NULL comes back. The caller's to g_free. */
char *v1_copy_name(const char *name);

#endif
