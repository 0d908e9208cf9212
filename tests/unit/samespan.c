/* SPDX-License-Identifier: BSD-2-Clause */
#include "samespan.h"

#include "texts.h"

static void assert_endpoint(const struct endpoint *one, const struct endpoint *other)
{
	assert_text(one->service, other->service);
	ck_assert_uint_eq(one->port, other->port);
	ck_assert_uint_eq(one->address_size, other->address_size);
	ck_assert_mem_eq(one->address, other->address, one->address_size);
}

static void assert_tags(const struct tag *one, const struct tag *other, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		ck_assert_int_eq(one[i].type, other[i].type);
		assert_text(one[i].key, other[i].key);
		assert_text(one[i].value, other[i].value);
	}
}

static void assert_attributes(const struct attributes *one, const struct attributes *other)
{
	ck_assert_uint_eq(one->count, other->count);
	ck_assert_uint_eq(one->dropped, other->dropped);
	assert_tags(one->tags, other->tags, one->count);
}

static void assert_link(const struct span_link *one, const struct span_link *other)
{
	ck_assert_uint_eq(one->trace_id_high, other->trace_id_high);
	ck_assert_uint_eq(one->trace_id, other->trace_id);
	ck_assert_uint_eq(one->id, other->id);
	ck_assert_uint_eq(one->flags, other->flags);
	assert_text(one->trace_state, other->trace_state);
	assert_attributes(&one->attributes, &other->attributes);
}

static void assert_more(const struct span_more *one, const struct span_more *other, size_t annotations)
{
	ck_assert_uint_eq(one->flags, other->flags);
	ck_assert_int_eq(one->no_kind, other->no_kind);
	assert_text(one->trace_state, other->trace_state);
	ck_assert_int_eq(one->status, other->status);
	assert_text(one->status_message, other->status_message);
	ck_assert_uint_eq(one->dropped_tags, other->dropped_tags);
	ck_assert_uint_eq(one->dropped_annotations, other->dropped_annotations);
	ck_assert_uint_eq(one->dropped_links, other->dropped_links);
	assert_text(one->scope_name, other->scope_name);
	assert_text(one->scope_version, other->scope_version);
	assert_text(one->scope_schema, other->scope_schema);
	assert_attributes(&one->scope, &other->scope);
	assert_text(one->resource_schema, other->resource_schema);
	assert_attributes(&one->resource, &other->resource);
	ck_assert_uint_eq(one->link_count, other->link_count);
	for (size_t i = 0; i < one->link_count; i++)
		assert_link(&one->links[i], &other->links[i]);
	ck_assert_int_eq(!one->of_annotations, !other->of_annotations);
	for (size_t i = 0; one->of_annotations && i < annotations; i++)
		assert_attributes(&one->of_annotations[i], &other->of_annotations[i]);
}

void assert_same_span(const struct span *one, const struct span *other)
{
	ck_assert_uint_eq(one->trace_id_high, other->trace_id_high);
	ck_assert_uint_eq(one->trace_id, other->trace_id);
	ck_assert_uint_eq(one->id, other->id);
	ck_assert_uint_eq(one->parent_id, other->parent_id);
	ck_assert_int_eq(one->kind, other->kind);
	ck_assert_int_eq(one->shared, other->shared);
	ck_assert_int_eq(one->debug, other->debug);
	ck_assert_int_eq(one->classic, other->classic);
	ck_assert_int_eq(one->timestamp, other->timestamp);
	ck_assert_int_eq(one->duration, other->duration);
	ck_assert_int_eq(one->last_event, other->last_event);
	ck_assert_uint_eq(one->pid, other->pid);
	ck_assert_int_eq(one->has_user, other->has_user);
	if (one->has_user)
		ck_assert_uint_eq(one->user, other->user);
	assert_text(one->name, other->name);
	assert_text(one->program, other->program);
	assert_endpoint(&one->local, &other->local);
	ck_assert_int_eq(one->has_remote, other->has_remote);
	if (one->has_remote)
		assert_endpoint(&one->remote, &other->remote);
	ck_assert_uint_eq(one->annotation_count, other->annotation_count);
	for (size_t i = 0; i < one->annotation_count; i++) {
		ck_assert_int_eq(one->annotations[i].time, other->annotations[i].time);
		assert_text(one->annotations[i].value, other->annotations[i].value);
	}
	ck_assert_uint_eq(one->tag_count, other->tag_count);
	assert_tags(one->tags, other->tags, one->tag_count);
	ck_assert_int_eq(!one->more, !other->more);
	if (one->more)
		assert_more(one->more, other->more, one->annotation_count);
}
