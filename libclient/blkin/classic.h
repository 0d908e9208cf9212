/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BlkKin's classic calls, as in ceph/blkin: each annotation is an LTTng event of its own (zipkin:timestamp,
 * zipkin:keyval_string, zipkin:keyval_integer), written at once, so that a crash keeps it.
 *
 * All calls return 0, or -EINVAL if a pointer that they need is NULL. Strings are borrowed by the structs and
 * copied by blkin_record.
 */
#ifndef BLKIN_CLASSIC_H_
#define BLKIN_CLASSIC_H_

#include <asm/byteorder.h>
#include <errno.h>
#include <linux/types.h>
#include <stdint.h>

#include <blkin/endpoint.h>
#include <blkin/id.h>
#include <blkin/provider.h>

#ifdef __cplusplus
extern "C" {
#endif

/** struct blkin_trace_info - a span's ids; trace_id 0 is a trace that is not sampled */
struct blkin_trace_info {
	int64_t trace_id;
	int64_t span_id;
	int64_t parent_span_id;
};

/** struct blkin_trace_info_packed - the same for the network: big-endian */
struct blkin_trace_info_packed {
	__be64 trace_id;
	__be64 span_id;
	__be64 parent_span_id;
} __attribute__((packed));

/** struct blkin_trace - the span that annotations are recorded for */
struct blkin_trace {
	const char *name; /* of the span */
	struct blkin_trace_info info;
	const struct blkin_endpoint *endpoint;
};

/** enum blkin_annotation_type - what blkin_annotation holds */
typedef enum { ANNOT_STRING = 0, ANNOT_INTEGER, ANNOT_TIMESTAMP } blkin_annotation_type;

/** struct blkin_annotation - a key and a value, or (ANNOT_TIMESTAMP) val_str happening now */
struct blkin_annotation {
	blkin_annotation_type type;
	const char *key;
	__extension__ union {
		const char *val_str;
		int64_t val_int;
	};
	const struct blkin_endpoint *endpoint; /* where; NULL: the trace's */
};

/** blkin_init - nothing needs to be initialised; for programs that call it */
static inline int blkin_init(void)
{
	return 0;
}

/** blkin_init_endpoint - fill in @endpoint; @ip may be NULL */
static inline int blkin_init_endpoint(
	struct blkin_endpoint *endpoint, const char *ip, int16_t port, const char *name)
{
	if (!endpoint)
		return -EINVAL;
	endpoint->ip = ip;
	endpoint->port = port;
	endpoint->name = name;
	return 0;
}

/** blkin_init_trace_info - the ids of a new root span: span and trace id are the same, and there is no parent
 */
static inline void blkin_init_trace_info(struct blkin_trace_info *info)
{
	info->span_id = info->trace_id = (int64_t)blkin_id();
	info->parent_span_id = 0;
}

/** blkin_init_new_trace - begin a trace with the root span @name */
static inline int blkin_init_new_trace(
	struct blkin_trace *trace, const char *name, const struct blkin_endpoint *endpoint)
{
	if (!trace)
		return -EINVAL;
	trace->name = name;
	trace->endpoint = endpoint;
	blkin_init_trace_info(&trace->info);
	return 0;
}

/** blkin_init_child_info - begin the span @name, child of the span whose ids @parent holds */
static inline int blkin_init_child_info(struct blkin_trace *child, const struct blkin_trace_info *parent,
	const struct blkin_endpoint *endpoint, const char *name)
{
	struct blkin_trace_info info;

	if (!child || !parent || !endpoint)
		return -EINVAL;
	info.trace_id = parent->trace_id;
	info.span_id = (int64_t)blkin_id();
	info.parent_span_id = parent->span_id;
	child->name = name;
	child->info = info;
	child->endpoint = endpoint;
	return 0;
}

/** blkin_init_child - begin the span @name, child of @parent; @endpoint NULL: where the parent is */
static inline int blkin_init_child(struct blkin_trace *child, const struct blkin_trace *parent,
	const struct blkin_endpoint *endpoint, const char *name)
{
	if (!parent)
		return -EINVAL;
	return blkin_init_child_info(child, &parent->info, endpoint ? endpoint : parent->endpoint, name);
}

/** blkin_init_string_annotation - a key with a text as value */
static inline int blkin_init_string_annotation(struct blkin_annotation *annotation, const char *key,
	const char *val, const struct blkin_endpoint *endpoint)
{
	if (!annotation || !key || !val)
		return -EINVAL;
	annotation->type = ANNOT_STRING;
	annotation->key = key;
	annotation->val_str = val;
	annotation->endpoint = endpoint;
	return 0;
}

/** blkin_init_integer_annotation - a key with a whole number as value */
static inline int blkin_init_integer_annotation(struct blkin_annotation *annotation, const char *key,
	int64_t val, const struct blkin_endpoint *endpoint)
{
	if (!annotation || !key)
		return -EINVAL;
	annotation->type = ANNOT_INTEGER;
	annotation->key = key;
	annotation->val_int = val;
	annotation->endpoint = endpoint;
	return 0;
}

/** blkin_init_timestamp_annotation - @event happens when it is recorded */
static inline int blkin_init_timestamp_annotation(
	struct blkin_annotation *annotation, const char *event, const struct blkin_endpoint *endpoint)
{
	if (!annotation || !event)
		return -EINVAL;
	annotation->type = ANNOT_TIMESTAMP;
	annotation->key = NULL;
	annotation->val_str = event;
	annotation->endpoint = endpoint;
	return 0;
}

/* One branch while no session records that kind of annotation. */
#define BLKIN_CLASSIC_ON_(event)                                                                             \
	__builtin_expect(__atomic_load_n(blkin_provider_->event##_on, __ATOMIC_RELAXED) != 0, 0)

/**
 * blkin_record - record an annotation, now
 *
 * Returns 0, also while nothing records it and for a trace that is not sampled; -EINVAL if the trace has no
 * name, or neither it nor the annotation has an endpoint with a name.
 */
static inline int blkin_record(const struct blkin_trace *trace, const struct blkin_annotation *annotation)
{
	const struct blkin_endpoint *endpoint;
	const struct blkin_trace_info *info;
	const char *ip;

	if (!trace || !annotation || !trace->name)
		return -EINVAL;
	endpoint = annotation->endpoint ? annotation->endpoint : trace->endpoint;
	if (!endpoint || !endpoint->name)
		return -EINVAL;
	info = &trace->info;
	ip = endpoint->ip ? endpoint->ip : "";
	if (annotation->type == ANNOT_INTEGER ? !annotation->key : !annotation->val_str)
		return -EINVAL;
	if (annotation->type == ANNOT_STRING && !annotation->key)
		return -EINVAL;
	if (!info->trace_id)
		return 0;

	if (annotation->type == ANNOT_STRING) {
		if (BLKIN_CLASSIC_ON_(keyval_string))
			blkin_provider_->keyval_string(trace->name, endpoint->name, endpoint->port, ip,
				info->trace_id, info->span_id, info->parent_span_id, annotation->key,
				annotation->val_str);
	} else if (annotation->type == ANNOT_INTEGER) {
		if (BLKIN_CLASSIC_ON_(keyval_integer))
			blkin_provider_->keyval_integer(trace->name, endpoint->name, endpoint->port, ip,
				info->trace_id, info->span_id, info->parent_span_id, annotation->key,
				annotation->val_int);
	} else if (BLKIN_CLASSIC_ON_(timestamp)) {
		blkin_provider_->timestamp(trace->name, endpoint->name, endpoint->port, ip, info->trace_id,
			info->span_id, info->parent_span_id, annotation->val_str);
	}
	return 0;
}

/** blkin_get_trace_info - copy the ids of @trace to @info */
static inline int blkin_get_trace_info(const struct blkin_trace *trace, struct blkin_trace_info *info)
{
	if (!trace || !info)
		return -EINVAL;
	*info = trace->info;
	return 0;
}

/** blkin_set_trace_info - copy the ids in @info to @trace */
static inline int blkin_set_trace_info(struct blkin_trace *trace, const struct blkin_trace_info *info)
{
	if (!trace || !info)
		return -EINVAL;
	trace->info = *info;
	return 0;
}

/** blkin_set_trace_properties - set a trace's ids, span name and endpoint */
static inline int blkin_set_trace_properties(struct blkin_trace *trace, const struct blkin_trace_info *info,
	const char *name, const struct blkin_endpoint *endpoint)
{
	if (!trace || !info || !name || !endpoint)
		return -EINVAL;
	trace->name = name;
	trace->info = *info;
	trace->endpoint = endpoint;
	return 0;
}

/** blkin_pack_trace_info - make @info ready for the network */
static inline int blkin_pack_trace_info(
	const struct blkin_trace_info *info, struct blkin_trace_info_packed *packed)
{
	if (!info || !packed)
		return -EINVAL;
	packed->trace_id = __cpu_to_be64((uint64_t)info->trace_id);
	packed->span_id = __cpu_to_be64((uint64_t)info->span_id);
	packed->parent_span_id = __cpu_to_be64((uint64_t)info->parent_span_id);
	return 0;
}

/** blkin_unpack_trace_info - read what blkin_pack_trace_info made */
static inline int blkin_unpack_trace_info(
	const struct blkin_trace_info_packed *packed, struct blkin_trace_info *info)
{
	if (!packed || !info)
		return -EINVAL;
	info->trace_id = (int64_t)__be64_to_cpu(packed->trace_id);
	info->span_id = (int64_t)__be64_to_cpu(packed->span_id);
	info->parent_span_id = (int64_t)__be64_to_cpu(packed->parent_span_id);
	return 0;
}

#define BLKIN_RECORD_(trace, init)                                                                           \
	do {                                                                                                 \
		struct blkin_annotation blkin_annotation_;                                                   \
		init;                                                                                        \
		blkin_record(trace, &blkin_annotation_);                                                     \
	} while (0)

/** BLKIN_TIMESTAMP - record that @event happens now */
#define BLKIN_TIMESTAMP(trace, endp, event)                                                                  \
	BLKIN_RECORD_(trace, blkin_init_timestamp_annotation(&blkin_annotation_, event, endp))
/** BLKIN_KEYVAL_STRING - record a key with a text */
#define BLKIN_KEYVAL_STRING(trace, endp, key, val)                                                           \
	BLKIN_RECORD_(trace, blkin_init_string_annotation(&blkin_annotation_, key, val, endp))
/** BLKIN_KEYVAL_INTEGER - record a key with a whole number */
#define BLKIN_KEYVAL_INTEGER(trace, endp, key, val)                                                          \
	BLKIN_RECORD_(trace, blkin_init_integer_annotation(&blkin_annotation_, key, val, endp))
/** BLKIN_KEYVAL - BLKIN_KEYVAL_STRING, as BlkKin of 2014 called it */
#define BLKIN_KEYVAL BLKIN_KEYVAL_STRING

#ifdef __cplusplus
}
#endif

#endif
