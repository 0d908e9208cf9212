/* SPDX-License-Identifier: BSD-2-Clause */
#include "unit.h"

#include <blkin/blkin.h>

static int texts(const struct blkin_context *context)
{
	char b3[BLKIN_B3_SIZE], parent[BLKIN_TRACEPARENT_SIZE], state[BLKIN_TRACESTATE_SIZE];
	struct blkin_tracestate vendors = {NULL, 0};
	struct blkin_context received;
	size_t size;
	int good = 0;

	size = blkin_context_inject_b3(context, b3);
	good += blkin_context_extract_b3(&received, b3, size) == 0;
	size = blkin_context_inject_traceparent(context, parent);
	good += blkin_context_extract_traceparent(&received, parent, size) == 0;
	good += blkin_tracestate_extract(&vendors, "a=1", 3) == 0;
	good += blkin_tracestate_inject(&vendors, state) == 3;
	return good;
}

static int headers(const struct blkin_context *context)
{
	struct blkin_b3_headers sent;
	struct blkin_b3_received received = {{NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}, {NULL, 0}};
	struct blkin_context again;

	blkin_context_inject_b3_multi(context, &sent);
	received.trace_id.text = sent.trace_id;
	received.trace_id.size = strlen(sent.trace_id);
	received.span_id.text = sent.span_id;
	received.span_id.size = strlen(sent.span_id);
	received.sampled.text = sent.sampled;
	received.sampled.size = strlen(sent.sampled);
	return blkin_context_extract_b3_multi(&again, &received) == 0;
}

int contexts(void)
{
	struct blkin_context context = {1, 2, 3, 0, 0, 0, 0}, received = {0, 0, 0, 0, 0, 0, 0};
	struct blkin_context_packed packed;
	struct blkin_trace_info info;
	int good;

	blkin_context_decide(&context, 1);
	blkin_context_pack(&context, &packed);
	good = blkin_context_unpack(&received, &packed, sizeof(packed)) == 0;
	blkin_context_to_info(&received, &info);
	blkin_context_from_info(&received, &info);
	good += blkin_context_decision(&received) == BLKIN_DECISION_ACCEPT;
	return good + texts(&context) + headers(&context);
}

static int annotations(const struct blkin_trace *trace)
{
	struct blkin_annotation annotation;
	int failed = 0;

	failed += blkin_init_string_annotation(&annotation, "key", "value", NULL) != 0;
	failed += blkin_record(trace, &annotation) != 0;
	failed += blkin_init_integer_annotation(&annotation, "key", 1, NULL) != 0;
	failed += blkin_record(trace, &annotation) != 0;
	failed += blkin_init_timestamp_annotation(&annotation, "event", NULL) != 0;
	failed += blkin_record(trace, &annotation) != 0;
	BLKIN_TIMESTAMP(trace, NULL, "event");
	BLKIN_KEYVAL(trace, NULL, "key", "value");
	BLKIN_KEYVAL_STRING(trace, NULL, "key", "value");
	BLKIN_KEYVAL_INTEGER(trace, NULL, "key", -1);
	return failed;
}

int classic(void)
{
	struct blkin_trace_info_packed packed;
	struct blkin_trace_info info;
	struct blkin_endpoint endpoint;
	struct blkin_trace root, child;
	int failed = blkin_init() != 0;

	blkin_init_trace_info(&info);
	failed += blkin_init_endpoint(&endpoint, "192.0.2.1", 80, "outside") != 0;
	failed += blkin_init_new_trace(&root, "root", &endpoint) != 0;
	failed += blkin_init_child(&child, &root, NULL, "child") != 0;
	failed += blkin_get_trace_info(&root, &info) != 0;
	failed += blkin_init_child_info(&child, &info, &endpoint, "child") != 0;
	failed += blkin_pack_trace_info(&info, &packed) != 0;
	failed += blkin_unpack_trace_info(&packed, &info) != 0;
	failed += blkin_set_trace_info(&child, &info) != 0;
	failed += blkin_set_trace_properties(&child, &info, "child", &endpoint) != 0;
	return failed + annotations(&child);
}
