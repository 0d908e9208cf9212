/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BlkKin of 2014: its blkin-front.h, for programs that were written against it.
 *
 * Its structs and calls have the names of ceph/blkin's, but other fields and types, so a file can include
 * either these or those (<zipkin_c.h>, <blkin/classic.h>). The span API can be used with both: include this
 * header before <blkin/blkin.h>. Only the trace_info structs are the same; do not pass the others between
 * files of the two kinds.
 *
 * As in 2014, each call is a pointer to a function, and may be replaced; but it is set before main, not by
 * blkin_init. Calls return 0, and blkin_pack_trace_info and blkin_unpack_trace_info 1; or -EINVAL if a
 * pointer that they need is NULL.
 *
 * The differences are corrections: pack packs and unpack unpacks; ids do not collide after fork; a missing
 * endpoint is -EINVAL; and blkin_record changes neither the annotation nor the endpoint.
 */
#ifndef BLKIN_FRONT_H_
#ifdef BLKIN_CLASSIC_H_
#error "include <blkin-front.h> before <blkin/blkin.h> and <zipkin_c.h>"
#endif
#define BLKIN_FRONT_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Replaces that of <blkin/endpoint.h>: the port is an int here. */
#define BLKIN_ENDPOINT_H_
/** struct blkin_endpoint - a service and its address */
struct blkin_endpoint {
	char *ip;
	int port;
	char *name;
};

#ifdef __cplusplus
}
extern "C++" {
#endif
#include <blkin/classic.h>
#ifdef __cplusplus
}
extern "C" {
#endif

/** struct blkin_trace - the span that annotations are recorded for */
struct blkin_trace {
	char *name;
	struct blkin_trace_info info;
	struct blkin_endpoint *trace_endpoint;
};

/** blkin_annotation_type - what blkin_annotation holds */
typedef enum { ANNOT_STRING = 0, ANNOT_TIMESTAMP } blkin_annotation_type;

/** struct blkin_annotation - a key and a value, or (ANNOT_TIMESTAMP) val happening now */
struct blkin_annotation {
	blkin_annotation_type type;
	char *key;
	char *val;
	struct blkin_endpoint *annotation_endpoint; /* where; NULL: the trace's */
};

/** blkin_init - nothing needs to be initialised; for programs that call it */
static inline int blkin_init(void)
{
	return 0;
}

static inline int blkin_front_init_new_trace_(
	struct blkin_trace *trace, char *name, struct blkin_endpoint *endpoint)
{
	if (!trace)
		return -EINVAL;
	trace->name = name;
	trace->trace_endpoint = endpoint;
	blkin_root_ids_(&trace->info, endpoint);
	return 0;
}

static inline int blkin_front_init_child_info_(struct blkin_trace *child, struct blkin_trace_info *parent,
	struct blkin_endpoint *endpoint, char *name)
{
	static const struct blkin_trace nothing = {NULL, {0, 0, 0}, NULL};

	if (!child)
		return -EINVAL;
	if (!parent || !endpoint) {
		*child = nothing;
		return -EINVAL;
	}
	blkin_child_ids_(&child->info, parent);
	child->name = name;
	child->trace_endpoint = endpoint;
	return 0;
}

static inline int blkin_front_init_child_(
	struct blkin_trace *child, struct blkin_trace *parent, struct blkin_endpoint *endpoint, char *name)
{
	if (parent && !endpoint)
		endpoint = parent->trace_endpoint;
	return blkin_front_init_child_info_(child, parent ? &parent->info : NULL, endpoint, name);
}

static inline int blkin_front_init_endpoint_(struct blkin_endpoint *endpoint, char *ip, int port, char *name)
{
	static char nowhere[1];

	if (!endpoint)
		return -EINVAL;
	endpoint->ip = ip ? ip : nowhere;
	endpoint->port = port;
	endpoint->name = name;
	return 0;
}

static inline int blkin_front_init_string_annotation_(
	struct blkin_annotation *annotation, char *key, char *val, struct blkin_endpoint *endpoint)
{
	if (!annotation)
		return -EINVAL;
	annotation->type = ANNOT_STRING;
	annotation->key = key;
	annotation->val = val;
	annotation->annotation_endpoint = endpoint;
	return key && val ? 0 : -EINVAL;
}

static inline int blkin_front_init_timestamp_annotation_(
	struct blkin_annotation *annotation, char *event, struct blkin_endpoint *endpoint)
{
	if (!annotation)
		return -EINVAL;
	annotation->type = ANNOT_TIMESTAMP;
	annotation->key = NULL;
	annotation->val = event;
	annotation->annotation_endpoint = endpoint;
	return event ? 0 : -EINVAL;
}

/* Recorded if the program gave no name, as in 2014. */
static inline const char *blkin_front_name_(const char *name)
{
	return name ? name : "NoName";
}

/* Copies an annotation's endpoint to @place; returns 0 if it is unknown. */
static inline int blkin_front_place_(
	struct blkin_endpoint *place, const struct blkin_trace *trace, const struct blkin_endpoint *endpoint)
{
	static char unnamed[] = "NoName";

	if (!endpoint)
		endpoint = trace->trace_endpoint;
	if (!endpoint)
		return 0;
	*place = *endpoint;
	if (!place->name)
		place->name = unnamed;
	return 1;
}

static inline int blkin_front_record_(struct blkin_trace *trace, struct blkin_annotation *annotation)
{
	struct blkin_endpoint place;

	if (!trace || !annotation || !annotation->val ||
		(annotation->type == ANNOT_STRING && !annotation->key) ||
		!blkin_front_place_(&place, trace, annotation->annotation_endpoint))
		return -EINVAL;
	if (annotation->type == ANNOT_STRING)
		blkin_write_string_(blkin_front_name_(trace->name), &place, &trace->info, annotation->key,
			annotation->val);
	else
		blkin_write_timestamp_(blkin_front_name_(trace->name), &place, &trace->info, annotation->val);
	return 0;
}

/* BLKIN_KEYVAL_INTEGER; the struct of 2014 holds no number. */
static inline int blkin_front_record_integer_(
	struct blkin_trace *trace, struct blkin_endpoint *endpoint, const char *key, int64_t val)
{
	struct blkin_endpoint place;

	if (!trace || !key || !blkin_front_place_(&place, trace, endpoint))
		return -EINVAL;
	blkin_write_integer_(blkin_front_name_(trace->name), &place, &trace->info, key, val);
	return 0;
}

static inline int blkin_front_get_trace_info_(struct blkin_trace *trace, struct blkin_trace_info *info)
{
	if (!trace || !info)
		return -EINVAL;
	*info = trace->info;
	return 0;
}

static inline int blkin_front_set_trace_info_(struct blkin_trace *trace, struct blkin_trace_info *info)
{
	if (!trace || !info)
		return -EINVAL;
	trace->info = *info;
	return 0;
}

static inline int blkin_front_pack_trace_info_(
	struct blkin_trace_info *info, struct blkin_trace_info_packed *packed)
{
	if (!info || !packed)
		return -EINVAL;
	blkin_pack_ids_(info, packed);
	return 1;
}

static inline int blkin_front_unpack_trace_info_(
	struct blkin_trace_info_packed *packed, struct blkin_trace_info *info)
{
	if (!packed || !info)
		return -EINVAL;
	blkin_unpack_ids_(packed, info);
	return 1;
}

/* Declared as in 2014, so that programs may declare them again. */
extern int (*blkin_init_new_trace)(
	struct blkin_trace *trace, char *name, struct blkin_endpoint *endpoint) BLKIN_ONE_PER_MODULE_;
extern int (*blkin_init_child)(struct blkin_trace *child, struct blkin_trace *parent,
	struct blkin_endpoint *endpoint, char *name) BLKIN_ONE_PER_MODULE_;
extern int (*blkin_init_child_info)(struct blkin_trace *child, struct blkin_trace_info *parent,
	struct blkin_endpoint *endpoint, char *name) BLKIN_ONE_PER_MODULE_;
extern int (*blkin_init_endpoint)(
	struct blkin_endpoint *endpoint, char *ip, int port, char *name) BLKIN_ONE_PER_MODULE_;
extern int (*blkin_init_string_annotation)(struct blkin_annotation *annotation, char *key, char *val,
	struct blkin_endpoint *endpoint) BLKIN_ONE_PER_MODULE_;
extern int (*blkin_init_timestamp_annotation)(struct blkin_annotation *annotation, char *event,
	struct blkin_endpoint *endpoint) BLKIN_ONE_PER_MODULE_;
extern int (*blkin_record)(
	struct blkin_trace *trace, struct blkin_annotation *annotation) BLKIN_ONE_PER_MODULE_;
extern int (*blkin_get_trace_info)(
	struct blkin_trace *trace, struct blkin_trace_info *info) BLKIN_ONE_PER_MODULE_;
extern int (*blkin_set_trace_info)(
	struct blkin_trace *trace, struct blkin_trace_info *info) BLKIN_ONE_PER_MODULE_;
extern int (*blkin_pack_trace_info)(
	struct blkin_trace_info *info, struct blkin_trace_info_packed *packed) BLKIN_ONE_PER_MODULE_;
extern int (*blkin_unpack_trace_info)(
	struct blkin_trace_info_packed *packed, struct blkin_trace_info *info) BLKIN_ONE_PER_MODULE_;

int (*blkin_init_new_trace)(
	struct blkin_trace *, char *, struct blkin_endpoint *) = blkin_front_init_new_trace_;
int (*blkin_init_child)(struct blkin_trace *, struct blkin_trace *, struct blkin_endpoint *,
	char *) = blkin_front_init_child_;
int (*blkin_init_child_info)(struct blkin_trace *, struct blkin_trace_info *, struct blkin_endpoint *,
	char *) = blkin_front_init_child_info_;
int (*blkin_init_endpoint)(struct blkin_endpoint *, char *, int, char *) = blkin_front_init_endpoint_;
int (*blkin_init_string_annotation)(struct blkin_annotation *, char *, char *,
	struct blkin_endpoint *) = blkin_front_init_string_annotation_;
int (*blkin_init_timestamp_annotation)(
	struct blkin_annotation *, char *, struct blkin_endpoint *) = blkin_front_init_timestamp_annotation_;
int (*blkin_record)(struct blkin_trace *, struct blkin_annotation *) = blkin_front_record_;
int (*blkin_get_trace_info)(struct blkin_trace *, struct blkin_trace_info *) = blkin_front_get_trace_info_;
int (*blkin_set_trace_info)(struct blkin_trace *, struct blkin_trace_info *) = blkin_front_set_trace_info_;
int (*blkin_pack_trace_info)(
	struct blkin_trace_info *, struct blkin_trace_info_packed *) = blkin_front_pack_trace_info_;
int (*blkin_unpack_trace_info)(
	struct blkin_trace_info_packed *, struct blkin_trace_info *) = blkin_front_unpack_trace_info_;

/* clang-format off */
#define BLKIN_FRONT_RECORD_(trace, init)                                                                     \
	do {                                                                                                 \
		struct blkin_annotation blkin_annotation_;                                                   \
		if ((init) == 0)                                                                             \
			blkin_record(trace, &blkin_annotation_);                                             \
	} while (0);

/** BLKIN_TIMESTAMP - record that @event happens now; these macros include their semicolon, as in 2014 */
#define BLKIN_TIMESTAMP(trace, endp, event)                                                                  \
	BLKIN_FRONT_RECORD_(trace, blkin_init_timestamp_annotation(&blkin_annotation_, event, endp))
/** BLKIN_KEYVAL - record a key with a text */
#define BLKIN_KEYVAL(trace, endp, key, val)                                                                  \
	BLKIN_FRONT_RECORD_(trace, blkin_init_string_annotation(&blkin_annotation_, key, val, endp))
/** BLKIN_KEYVAL_STRING - the same, by ceph/blkin's name */
#define BLKIN_KEYVAL_STRING(trace, endp, key, val) BLKIN_KEYVAL(trace, endp, key, val)
/** BLKIN_KEYVAL_INTEGER - record a key with a whole number */
#define BLKIN_KEYVAL_INTEGER(trace, endp, key, val)                                                          \
	do {                                                                                                 \
		blkin_front_record_integer_(trace, endp, key, val);                                          \
	} while (0);
/* clang-format on */

#ifdef __cplusplus
}
#endif

#endif
