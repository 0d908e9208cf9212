/* SPDX-License-Identifier: BSD-2-Clause */
/* A version 1 span with its annotations in order, for its conversion to version 2. */
#ifndef SPANS_V1_ANNOTATIONS_H
#define SPANS_V1_ANNOTATIONS_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "core/span.h"
#include "encode/zipkinwire.h"
#include "status/trace/span2.h"

/* An annotation of either sort, as the wire has it. */
struct v1_annotation {
	guint order;
	int64_t timestamp; /* us */
	char *text;        /* the value, or the key */
	struct text value; /* of a binary one; borrowed */
	struct span2_endpoint host;
	bool has_host;
};

struct v1_span {
	struct zipkinwire_span fields;
	GArray *annotations; /* of struct v1_annotation, by time */
	GArray *binaries;    /* the same, by key */
};

/*
 * Reads one, which borrows from the bytes, and is the caller's to clear in any case. Of the binary
 * annotations, strings are tags, and a true value under an address's key is an address; the rest Zipkin does
 * not take. False if it is none.
 */
bool v1_read(struct v1_span *v1, const void *bytes, size_t size);

/* The same of a span in the classic libraries' events, which name the core annotations themselves. */
void v1_of_classic(struct v1_span *v1, const struct span *span);

void v1_clear(struct v1_span *v1);

/* Whether it is the key of an address: "ca", "sa" or "ma". */
bool v1_is_address_key(const char *key);

/* Names are valid UTF-8 and in lower case; of an empty one NULL comes back. The caller's to g_free. */
char *v1_copy_name(struct text name);

#endif
