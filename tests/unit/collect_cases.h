/* SPDX-License-Identifier: BSD-2-Clause */
/* The cases of test_collect, a file each. */
#ifndef COLLECT_CASES_H
#define COLLECT_CASES_H

#include <check.h>
#include <glib.h>

#include "base/buffer.h"
#include "zipkin_zipkin_core_types.h"

TCase *collect_convert_cases(void);
TCase *collect_post_cases(void);
TCase *collect_shown_cases(void);
TCase *collect_wire_cases(void);
TCase *collect_tree_cases(void);
TCase *collect_text_cases(void);

/* Version 1 spans by the generated code; the caller's to unref. @host is borrowed; NULL: none. */
ZipkinSpan *v1_span(int64_t trace_id, int64_t id, int64_t parent_id, const char *name);
ZipkinEndpoint *v1_host(const char *service, uint32_t ipv4, int16_t port);
void v1_annotate(ZipkinSpan *span, int64_t timestamp, const char *value, ZipkinEndpoint *host);
void v1_binary(ZipkinSpan *span, const char *key, ZipkinAnnotationType type, const void *value, size_t size,
	ZipkinEndpoint *host);
void v1_tag(ZipkinSpan *span, const char *key, const char *value, ZipkinEndpoint *host);
void v1_times(ZipkinSpan *span, int64_t timestamp, int64_t duration);

/* A generated struct in TBinary; the caller's to buffer_free. */
struct buffer v1_bytes(void *object);

/* What is in @buffer has to be @text, to the byte. Frees the buffer. */
void assert_text(struct buffer *buffer, const char *text);

#endif
