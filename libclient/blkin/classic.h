/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BlkKin's classic calls, as in ceph/blkin: each annotation is an LTTng event of its own (blkin:timestamp,
 * blkin:keyval_string, blkin:keyval_integer), written at once, so that a crash keeps it.
 *
 * All calls return 0, or -EINVAL if a pointer that they need is NULL. Strings are borrowed by the structs and
 * copied by blkin_record. A failed call leaves its result empty, and blkin_record refuses it.
 *
 * A trace that is not sampled has the trace id 0: nothing is recorded for it or its children, here and in
 * every receiver.
 *
 * Programs that were written for BlkKin include its original headers: compat/zipkin_c.h, compat/ztracer.hpp,
 * and for BlkKin of 2014 compat/blkin-front.h, whose structs differ (BLKIN_FRONT_H_). What both share comes
 * first; names that end in _ are for these headers only.
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

/* One branch while no session records that kind of annotation. */
#define BLKIN_CLASSIC_ON_(event)                                                                             \
	__builtin_expect(__atomic_load_n(blkin_provider_->event##_on, __ATOMIC_RELAXED) != 0, 0)

static inline int blkin_classic_recorded_(void)
{
	return BLKIN_CLASSIC_ON_(timestamp) || BLKIN_CLASSIC_ON_(keyval_string) ||
	       BLKIN_CLASSIC_ON_(keyval_integer);
}

/* The ids of a new root span. If something is recorded, this decides whether the trace is sampled. */
static inline void blkin_root_ids_(struct blkin_trace_info *info, const struct blkin_endpoint *endpoint)
{
	uint64_t id = blkin_id();

	info->trace_id = info->span_id = (int64_t)id;
	info->parent_span_id = 0;
	if (blkin_classic_recorded_() && blkin_provider_->sample &&
		!blkin_provider_->sample(id, blkin_now(), endpoint && endpoint->name ? endpoint->name : ""))
		info->trace_id = 0;
}

/*
 * The ids of a child of @parent, which may be the same memory. A child of an unsampled parent is unsampled.
 */
static inline void blkin_child_ids_(struct blkin_trace_info *info, const struct blkin_trace_info *parent)
{
	info->parent_span_id = parent->span_id;
	info->trace_id = parent->trace_id;
	info->span_id = (int64_t)blkin_id();
}

static inline void blkin_write_string_(const char *name, const struct blkin_endpoint *endpoint,
	const struct blkin_trace_info *info, const char *key, const char *val)
{
	if (BLKIN_CLASSIC_ON_(keyval_string) && info->trace_id)
		blkin_provider_->keyval_string(name, endpoint->name, endpoint->port,
			endpoint->ip ? endpoint->ip : "", info->trace_id, info->span_id, info->parent_span_id,
			key, val);
}

static inline void blkin_write_integer_(const char *name, const struct blkin_endpoint *endpoint,
	const struct blkin_trace_info *info, const char *key, int64_t val)
{
	if (BLKIN_CLASSIC_ON_(keyval_integer) && info->trace_id)
		blkin_provider_->keyval_integer(name, endpoint->name, endpoint->port,
			endpoint->ip ? endpoint->ip : "", info->trace_id, info->span_id, info->parent_span_id,
			key, val);
}

static inline void blkin_write_timestamp_(const char *name, const struct blkin_endpoint *endpoint,
	const struct blkin_trace_info *info, const char *event)
{
	if (BLKIN_CLASSIC_ON_(timestamp) && info->trace_id)
		blkin_provider_->timestamp(name, endpoint->name, endpoint->port,
			endpoint->ip ? endpoint->ip : "", info->trace_id, info->span_id, info->parent_span_id,
			event);
}

static inline void blkin_pack_ids_(
	const struct blkin_trace_info *info, struct blkin_trace_info_packed *packed)
{
	packed->trace_id = __cpu_to_be64((uint64_t)info->trace_id);
	packed->span_id = __cpu_to_be64((uint64_t)info->span_id);
	packed->parent_span_id = __cpu_to_be64((uint64_t)info->parent_span_id);
}

static inline void blkin_unpack_ids_(
	const struct blkin_trace_info_packed *packed, struct blkin_trace_info *info)
{
	info->trace_id = (int64_t)__be64_to_cpu(packed->trace_id);
	info->span_id = (int64_t)__be64_to_cpu(packed->span_id);
	info->parent_span_id = (int64_t)__be64_to_cpu(packed->parent_span_id);
}

#ifndef BLKIN_FRONT_H_

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

/** blkin_init_endpoint - fill in @endpoint; @ip may be NULL, and is "" then */
static inline int blkin_init_endpoint(
	struct blkin_endpoint *endpoint, const char *ip, int16_t port, const char *name)
{
	if (!endpoint)
		return -EINVAL;
	endpoint->ip = ip ? ip : "";
	endpoint->port = port;
	endpoint->name = name;
	return 0;
}

/** blkin_init_trace_info - the ids of a new root span: no parent, and the trace id is the span id (0:
 * unsampled) */
static inline void blkin_init_trace_info(struct blkin_trace_info *info)
{
	if (info)
		blkin_root_ids_(info, NULL);
}

/** blkin_init_new_trace - begin a trace with the root span @name */
static inline int blkin_init_new_trace(
	struct blkin_trace *trace, const char *name, const struct blkin_endpoint *endpoint)
{
	if (!trace)
		return -EINVAL;
	trace->name = name;
	trace->endpoint = endpoint;
	blkin_root_ids_(&trace->info, endpoint);
	return 0;
}

/** blkin_init_child_info - begin the span @name, child of the span whose ids @parent holds */
static inline int blkin_init_child_info(struct blkin_trace *child, const struct blkin_trace_info *parent,
	const struct blkin_endpoint *endpoint, const char *name)
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
	child->endpoint = endpoint;
	return 0;
}

/** blkin_init_child - begin the span @name, child of @parent; @endpoint NULL: where the parent is */
static inline int blkin_init_child(struct blkin_trace *child, const struct blkin_trace *parent,
	const struct blkin_endpoint *endpoint, const char *name)
{
	if (parent && !endpoint)
		endpoint = parent->endpoint;
	return blkin_init_child_info(child, parent ? &parent->info : NULL, endpoint, name);
}

/** blkin_init_string_annotation - a key with a text as value */
static inline int blkin_init_string_annotation(struct blkin_annotation *annotation, const char *key,
	const char *val, const struct blkin_endpoint *endpoint)
{
	if (!annotation)
		return -EINVAL;
	annotation->type = ANNOT_STRING;
	annotation->key = key;
	annotation->val_str = val;
	annotation->endpoint = endpoint;
	return key && val ? 0 : -EINVAL;
}

/** blkin_init_integer_annotation - a key with a whole number as value */
static inline int blkin_init_integer_annotation(struct blkin_annotation *annotation, const char *key,
	int64_t val, const struct blkin_endpoint *endpoint)
{
	if (!annotation)
		return -EINVAL;
	annotation->type = ANNOT_INTEGER;
	annotation->key = key;
	annotation->val_int = val;
	annotation->endpoint = endpoint;
	return key ? 0 : -EINVAL;
}

/** blkin_init_timestamp_annotation - @event happens when it is recorded */
static inline int blkin_init_timestamp_annotation(
	struct blkin_annotation *annotation, const char *event, const struct blkin_endpoint *endpoint)
{
	if (!annotation)
		return -EINVAL;
	annotation->type = ANNOT_TIMESTAMP;
	annotation->key = NULL;
	annotation->val_str = event;
	annotation->endpoint = endpoint;
	return event ? 0 : -EINVAL;
}

/**
 * blkin_record - record an annotation, now
 *
 * Returns 0, also while nothing records it and for a trace that is not sampled; -EINVAL if the trace has no
 * name, or neither it nor the annotation has an endpoint with a name.
 */
static inline int blkin_record(const struct blkin_trace *trace, const struct blkin_annotation *annotation)
{
	const struct blkin_endpoint *endpoint;

	if (!trace || !annotation || !trace->name)
		return -EINVAL;
	endpoint = annotation->endpoint ? annotation->endpoint : trace->endpoint;
	if (!endpoint || !endpoint->name)
		return -EINVAL;
	if (annotation->type == ANNOT_INTEGER ? !annotation->key : !annotation->val_str)
		return -EINVAL;
	if (annotation->type == ANNOT_STRING && !annotation->key)
		return -EINVAL;
	if (annotation->type == ANNOT_STRING)
		blkin_write_string_(
			trace->name, endpoint, &trace->info, annotation->key, annotation->val_str);
	else if (annotation->type == ANNOT_INTEGER)
		blkin_write_integer_(
			trace->name, endpoint, &trace->info, annotation->key, annotation->val_int);
	else
		blkin_write_timestamp_(trace->name, endpoint, &trace->info, annotation->val_str);
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
	blkin_pack_ids_(info, packed);
	return 0;
}

/** blkin_unpack_trace_info - read what blkin_pack_trace_info made */
static inline int blkin_unpack_trace_info(
	const struct blkin_trace_info_packed *packed, struct blkin_trace_info *info)
{
	if (!packed || !info)
		return -EINVAL;
	blkin_unpack_ids_(packed, info);
	return 0;
}

#define BLKIN_RECORD_(trace, init)                                                                           \
	do {                                                                                                 \
		struct blkin_annotation blkin_annotation_;                                                   \
		if ((init) == 0)                                                                             \
			blkin_record(trace, &blkin_annotation_);                                             \
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

#endif /* BLKIN_FRONT_H_ */

#ifdef __cplusplus
}
#endif

#endif
