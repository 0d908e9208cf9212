/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans as Zipkin shows them: its version 2 model. A span2 owns everything that it points to. */
#ifndef STATUS_TRACE_SPAN2_H
#define STATUS_TRACE_SPAN2_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "base/buffer.h"

/* Times come from peers and may be anything: arithmetic stops at the ends of the scale. */

static inline int64_t time_sum(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		sum = b > 0 ? INT64_MAX : INT64_MIN;
	return sum;
}

static inline int64_t time_difference(int64_t a, int64_t b)
{
	int64_t difference;

	if (__builtin_sub_overflow(a, b, &difference))
		difference = b < 0 ? INT64_MAX : INT64_MIN;
	return difference;
}

enum span2_kind { SPAN2_LOCAL, SPAN2_CLIENT, SPAN2_SERVER, SPAN2_PRODUCER, SPAN2_CONSUMER };

struct span2_endpoint {
	char *service; /* in lower case; NULL if unknown */
	char ipv4[16]; /* as text; "" if unknown, as the next */
	char ipv6[46];
	uint16_t port; /* 0: unknown */
};

struct span2_annotation {
	int64_t timestamp; /* µs since the epoch */
	char *value;
};

struct span2_tag {
	char *key;
	char *value; /* a NUL behind it, and perhaps some within */
	size_t value_size;
};

struct span2 {
	uint64_t trace_id_high; /* 0: a 64-bit trace id */
	uint64_t trace_id;
	uint64_t id;
	uint64_t parent_id; /* 0: none */
	enum span2_kind kind;
	char *name;                    /* in lower case; NULL if unknown */
	int64_t timestamp;             /* µs since the epoch; 0: unknown */
	int64_t duration;              /* µs; 0: unknown */
	struct span2_endpoint *local;  /* NULL if unknown */
	struct span2_endpoint *remote; /* the same */
	GArray *annotations;           /* of struct span2_annotation, by time */
	GArray *tags;                  /* of struct span2_tag, by key */
	bool debug;
	bool shared; /* the server's half of a span that the client began */
};

/* For GPtrArray's free function too. */
void span2_free(void *span);

/* Bytes of memory that @span uses, approximately. */
size_t span2_size(const struct span2 *span);

/* "client" and so on; "" for a local span. */
const char *span2_kind_name(enum span2_kind kind);

/* Appends an annotation, or a tag; a tag of the same key is replaced. The caller sorts them. */
void span2_annotate(struct span2 *span, int64_t timestamp, const char *value);
void span2_tag(struct span2 *span, const char *key, const void *value, size_t value_size);

/* Sorts annotations by time, without duplicates, and tags by key. */
void span2_sort(struct span2 *span);

/* As Zipkin has each: sorted, without times before the epoch; none is its own parent, and no client's half is
 * the shared one. */
void span2_settle(struct span2 *span);

/* Whether the tag of the span is the one that encode/zipkin.h adds, which says what the tag `error` does. */
bool span2_is_added(const struct span2 *span, const struct span2_tag *tag);
void span2_leave_out_added(struct span2 *span);

struct span2 *span2_new(void);
struct span2_endpoint *span2_endpoint_copy(const struct span2_endpoint *endpoint);

/* Writes an address of 4 or 16 bytes, in network order. One of IPv4 in IPv6 is shown as IPv4, and 0.0.0.0 is
 * none. */
void span2_endpoint_address(struct span2_endpoint *endpoint, const void *address, size_t size);
/* Whether anything is known of it. */
bool span2_endpoint_is_known(const struct span2_endpoint *endpoint);

/* Appends @span as one object of Zipkin's version 2 JSON. */
void span2_put_json(const struct span2 *span, struct buffer *out);

#endif
