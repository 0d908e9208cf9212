/* SPDX-License-Identifier: BSD-2-Clause */
/* All of blkin-front.h: C, and C++ as well. */
#ifdef __cplusplus
extern "C" { /* as ztracer.hpp of 2014 did */
#endif
#include <blkin-front.h>

/* An old program may declare them itself, too. */
extern int (*blkin_record)(struct blkin_trace *trace, struct blkin_annotation *annotation);
#ifdef __cplusplus
}
#endif

#include <errno.h>
#include <string.h>

#include "classic_check.h"

static char ip[] = "10.7.1.1", service[] = "of 2014", name[] = "span", key[] = "key", val[] = "val";

static void structs(void)
{
	struct blkin_endpoint endpoint = {ip, 40000, service};
	struct blkin_trace trace = {name, {4, 5, 6}, &endpoint};
	struct blkin_annotation text = {ANNOT_STRING, key, val, NULL};
	char *text_of_it = text.val, *name_of_it = endpoint.name;

	CHECK(endpoint.ip == ip && endpoint.port == 40000 && name_of_it == service);
	CHECK(trace.name == name && trace.info.parent_span_id == 6 && trace.trace_endpoint == &endpoint);
	CHECK(text.type == ANNOT_STRING && text.key == key && text_of_it == val && !text.annotation_endpoint);
	CHECK(blkin_record(&trace, &text) == 0 && text.annotation_endpoint == NULL);
	CHECK(ANNOT_STRING == 0 && ANNOT_TIMESTAMP == 1);
#ifndef __cplusplus
	{
		struct blkin_endpoint here = {.ip = "10.7.1.2", .port = 65535, .name = "designated"};
		struct blkin_trace named = {
			.name = "name", .info = {.trace_id = 7, .span_id = 8}, .trace_endpoint = &here};
		struct blkin_annotation event = {
			.type = ANNOT_TIMESTAMP, .val = "event", .annotation_endpoint = &here};

		CHECK(blkin_record(&named, &event) == 0);
	}
#endif
}

static void traces(struct blkin_endpoint *here)
{
	struct blkin_trace root, child, grandchild;
	struct blkin_trace_info info, unsampled = {0, 9, 8};
	struct blkin_trace_info_packed packed;
	unsigned char bytes[24];

	CHECK(blkin_init_new_trace(NULL, name, here) == -EINVAL);
	CHECK(blkin_init_new_trace(&root, name, here) == 0 && root.info.trace_id &&
		!root.info.parent_span_id);
	CHECK(blkin_init_child(&child, &root, NULL, name) == 0 && child.trace_endpoint == here);
	CHECK(child.info.trace_id == root.info.trace_id && child.info.parent_span_id == root.info.span_id);
	CHECK(blkin_init_child(&child, NULL, here, name) == -EINVAL);
	CHECK(blkin_init_child_info(&grandchild, &child.info, here, name) == 0);
	CHECK(grandchild.info.parent_span_id == child.info.span_id);
	CHECK(blkin_init_child_info(&grandchild, &child.info, NULL, name) == -EINVAL);
	CHECK(blkin_init_child_info(&grandchild, &unsampled, here, name) == 0 && !grandchild.info.trace_id);

	CHECK(blkin_get_trace_info(&child, &info) == 0 && info.span_id == child.info.span_id);
	CHECK(blkin_get_trace_info(&child, NULL) == -EINVAL && blkin_set_trace_info(NULL, &info) == -EINVAL);
	CHECK(blkin_set_trace_info(&root, &info) == 0 && root.info.span_id == info.span_id);

	info.trace_id = 0x0102030405060708;
	info.span_id = -2;
	info.parent_span_id = 0;
	CHECK(blkin_pack_trace_info(&info, &packed) == 1 && sizeof(packed) == sizeof(bytes));
	memcpy(bytes, &packed, sizeof(bytes));
	CHECK(memcmp(bytes, "\1\2\3\4\5\6\7\10\377\377\377\377\377\377\377\376\0\0\0\0\0\0\0", 24) == 0);
	memset(&info, 0, sizeof(info));
	CHECK(blkin_unpack_trace_info(&packed, &info) == 1);
	CHECK(info.trace_id == 0x0102030405060708 && info.span_id == -2 && info.parent_span_id == 0);
	CHECK(blkin_pack_trace_info(NULL, &packed) == -EINVAL &&
		blkin_unpack_trace_info(NULL, &info) == -EINVAL);
}

static void annotations(struct blkin_endpoint *here)
{
	int (*record)(struct blkin_trace *, struct blkin_annotation *) = blkin_record;
	struct blkin_endpoint unnamed = {NULL, 0, NULL};
	struct blkin_annotation note;
	struct blkin_trace trace, nowhere;

	blkin_init_new_trace(&trace, name, here);
	blkin_init_new_trace(&nowhere, NULL, NULL);
	CHECK(blkin_init_string_annotation(&note, key, val, here) == 0 && note.type == ANNOT_STRING);
	CHECK(record(&trace, &note) == 0 && (*blkin_record)(&nowhere, &note) == 0);
	CHECK(record(NULL, &note) == -EINVAL && record(&trace, NULL) == -EINVAL);
	CHECK(blkin_init_string_annotation(&note, NULL, val, here) == -EINVAL);
	CHECK(blkin_init_timestamp_annotation(&note, val, NULL) == 0 && note.type == ANNOT_TIMESTAMP);
	CHECK(record(&trace, &note) == 0 && record(&nowhere, &note) == -EINVAL);
	CHECK(blkin_init_timestamp_annotation(&note, NULL, NULL) == -EINVAL);
	CHECK(record(&trace, &note) == -EINVAL);
	blkin_init_timestamp_annotation(&note, val, &unnamed);
	CHECK(record(&trace, &note) == 0 && unnamed.name == NULL);

	BLKIN_TIMESTAMP(&trace, here, val)
	BLKIN_TIMESTAMP(&trace, NULL, NULL);
	BLKIN_KEYVAL(&trace, here, key, val);
	BLKIN_KEYVAL_STRING(&trace, here, key, val);
	BLKIN_KEYVAL_INTEGER(&trace, here, "number", 42);
}

static void all(void)
{
	struct blkin_endpoint here;

	CHECK(blkin_init() == 0);
	CHECK(blkin_init_endpoint(&here, NULL, 40001, service) == 0 && here.ip && here.port == 40001);
	CHECK(blkin_init_endpoint(NULL, ip, 1, service) == -EINVAL);
	structs();
	traces(&here);
	annotations(&here);
}

CLASSIC_MAIN
