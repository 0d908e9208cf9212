/* SPDX-License-Identifier: BSD-2-Clause */
/* All of zipkin_c.h: C, and C++ as well. */
#include <zipkin_c.h>

#include <errno.h>
#include <string.h>

#include "classic_check.h"

/* An old program may declare them itself, too. */
#ifdef __cplusplus
extern "C" {
#endif
extern const char *const CLIENT_SEND;
extern int blkin_record(const struct blkin_trace *trace, const struct blkin_annotation *annotation);
#ifdef __cplusplus
}
#endif

static void structs(void)
{
	struct blkin_endpoint endpoint = {"10.7.0.1", 4711, "positional"};
	struct blkin_trace_info info = {1, 2, 3};
	struct blkin_trace trace = {"name", {4, 5, 6}, &endpoint};
	struct blkin_annotation text = {ANNOT_STRING, "key", {"val"}, NULL};

	CHECK(strcmp(endpoint.ip, "10.7.0.1") == 0 && endpoint.port == 4711);
	CHECK(strcmp(endpoint.name, "positional") == 0);
	CHECK(info.trace_id == 1 && info.span_id == 2 && info.parent_span_id == 3);
	CHECK(strcmp(trace.name, "name") == 0 && trace.info.span_id == 5 && trace.endpoint == &endpoint);
	CHECK(text.type == ANNOT_STRING && strcmp(text.key, "key") == 0 && strcmp(text.val_str, "val") == 0);
	CHECK(text.endpoint == NULL && blkin_record(&trace, &text) == 0);
	CHECK(ANNOT_STRING == 0 && ANNOT_INTEGER == 1 && ANNOT_TIMESTAMP == 2);
#ifndef __cplusplus
	{
		struct blkin_endpoint here = {.ip = "10.7.0.2", .port = 1, .name = "designated"};
		struct blkin_trace named = {.name = "name",
			.info = {.trace_id = 7, .span_id = 8, .parent_span_id = 7},
			.endpoint = &here};
		struct blkin_annotation number = {
			.type = ANNOT_INTEGER, .key = "key", .val_int = -1, .endpoint = &here};

		CHECK(blkin_record(&named, &number) == 0 && number.val_int == -1);
	}
#endif
}

static void traces(const struct blkin_endpoint *here)
{
	struct blkin_trace root, child, grandchild, twin;
	struct blkin_trace_info info, unsampled = {0, 9, 8};
	struct blkin_trace_info_packed packed;
	unsigned char bytes[24];

	CHECK(blkin_init_new_trace(NULL, "root", here) == -EINVAL);
	CHECK(blkin_init_new_trace(&root, "root", here) == 0);
	CHECK(root.info.trace_id == root.info.span_id && root.info.trace_id && !root.info.parent_span_id);
	blkin_init_trace_info(&info);
	CHECK(info.trace_id == info.span_id && info.trace_id != root.info.trace_id && !info.parent_span_id);

	CHECK(blkin_init_child(&child, &root, NULL, "child") == 0);
	CHECK(child.endpoint == here && child.info.trace_id == root.info.trace_id);
	CHECK(child.info.parent_span_id == root.info.span_id && child.info.span_id != root.info.span_id);
	CHECK(blkin_init_child(&child, NULL, here, "child") == -EINVAL);
	CHECK(blkin_init_child_info(&grandchild, &child.info, here, "grandchild") == 0);
	CHECK(grandchild.info.parent_span_id == child.info.span_id);
	CHECK(blkin_init_child_info(&grandchild, &child.info, NULL, "grandchild") == -EINVAL);
	CHECK(blkin_init_child_info(&grandchild, &unsampled, here, "grandchild") == 0);
	CHECK(grandchild.info.trace_id == 0 && grandchild.info.parent_span_id == 9);

	CHECK(blkin_get_trace_info(&child, &info) == 0 && info.span_id == child.info.span_id);
	CHECK(blkin_get_trace_info(NULL, &info) == -EINVAL && blkin_get_trace_info(&child, NULL) == -EINVAL);
	CHECK(blkin_set_trace_info(&root, &info) == 0 && root.info.span_id == info.span_id);
	CHECK(blkin_set_trace_info(NULL, &info) == -EINVAL && blkin_set_trace_info(&root, NULL) == -EINVAL);
	CHECK(blkin_set_trace_properties(&twin, &info, "twin", here) == 0 && twin.endpoint == here);
	CHECK(blkin_set_trace_properties(&twin, &info, "twin", NULL) == -EINVAL);

	info.trace_id = 0x0102030405060708;
	info.span_id = -2;
	info.parent_span_id = 0;
	CHECK(blkin_pack_trace_info(&info, &packed) == 0 && sizeof(packed) == sizeof(bytes));
	memcpy(bytes, &packed, sizeof(bytes));
	CHECK(memcmp(bytes, "\1\2\3\4\5\6\7\10\377\377\377\377\377\377\377\376\0\0\0\0\0\0\0", 24) == 0);
	memset(&info, 0, sizeof(info));
	CHECK(blkin_unpack_trace_info(&packed, &info) == 0);
	CHECK(info.trace_id == 0x0102030405060708 && info.span_id == -2 && info.parent_span_id == 0);
	CHECK(blkin_pack_trace_info(NULL, &packed) == -EINVAL &&
		blkin_unpack_trace_info(NULL, &info) == -EINVAL);
}

static void annotations(const struct blkin_endpoint *here)
{
	int (*record)(const struct blkin_trace *, const struct blkin_annotation *) = blkin_record;
	const struct blkin_endpoint unnamed = {NULL, 0, NULL};
	struct blkin_annotation note;
	struct blkin_trace trace, nowhere;

	blkin_init_new_trace(&trace, "annotated", here);
	blkin_init_new_trace(&nowhere, "nowhere", NULL);
	CHECK(blkin_init_string_annotation(&note, "key", "val", here) == 0 && note.type == ANNOT_STRING);
	CHECK(record(&trace, &note) == 0 && record(NULL, &note) == -EINVAL &&
		record(&trace, NULL) == -EINVAL);
	CHECK(record(&nowhere, &note) == 0);
	CHECK(blkin_init_string_annotation(&note, "key", NULL, here) == -EINVAL);
	CHECK(blkin_init_integer_annotation(&note, "key", INT64_MIN, NULL) == 0 &&
		note.type == ANNOT_INTEGER);
	CHECK(record(&trace, &note) == 0 && record(&nowhere, &note) == -EINVAL);
	CHECK(blkin_init_integer_annotation(&note, NULL, 1, NULL) == -EINVAL);
	CHECK(blkin_init_timestamp_annotation(&note, SERVER_RECV, NULL) == 0 && note.type == ANNOT_TIMESTAMP);
	CHECK(record(&trace, &note) == 0);
	CHECK(blkin_init_timestamp_annotation(&note, NULL, NULL) == -EINVAL);
	CHECK(record(&trace, &note) == -EINVAL);
	blkin_init_timestamp_annotation(&note, "event", &unnamed);
	CHECK(record(&trace, &note) == -EINVAL);

	BLKIN_TIMESTAMP(&trace, here, CLIENT_SEND)
	BLKIN_TIMESTAMP(&trace, NULL, "an event");
	BLKIN_TIMESTAMP(&trace, NULL, (const char *)NULL);
	BLKIN_KEYVAL_STRING(&trace, here, "text", "value");
	BLKIN_KEYVAL_INTEGER(&trace, here, "number", 42);
	BLKIN_KEYVAL(&trace, here, "old", "value");
}

static void constants(void)
{
	CHECK(!strcmp(CLIENT_SEND, "cs") && !strcmp(CLIENT_RECV, "cr"));
	CHECK(!strcmp(SERVER_SEND, "ss") && !strcmp(SERVER_RECV, "sr"));
	CHECK(!strcmp(WIRE_SEND, "ws") && !strcmp(WIRE_RECV, "wr"));
	CHECK(!strcmp(CLIENT_SEND_FRAGMENT, "csf") && !strcmp(CLIENT_RECV_FRAGMENT, "crf"));
	CHECK(!strcmp(SERVER_SEND_FRAGMENT, "ssf") && !strcmp(SERVER_RECV_FRAGMENT, "srf"));
}

static void all(void)
{
	struct blkin_endpoint here;

	CHECK(blkin_init() == 0);
	CHECK(blkin_init_endpoint(&here, NULL, 4712, "ceph") == 0 && here.ip && here.port == 4712);
	CHECK(blkin_init_endpoint(NULL, NULL, 4712, "ceph") == -EINVAL);
	structs();
	traces(&here);
	annotations(&here);
	constants();
}

CLASSIC_MAIN
