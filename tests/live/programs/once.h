/* SPDX-License-Identifier: BSD-2-Clause */
/* Each object of the program `once` has a function that records a span of its name, and a classic annotation.
 */
#ifndef ONCE_H
#define ONCE_H

#include <blkin/blkin.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ONCE_EXPORT __attribute__((visibility("default")))

ONCE_EXPORT void once_a(void);
ONCE_EXPORT void once_b(void);
ONCE_EXPORT void once_plugin(void);
void once_unit(void);

static inline void once_record(const char *object)
{
	struct blkin_endpoint here;
	struct blkin_span span;
	struct blkin_trace trace;

	blkin_init_endpoint(&here, "10.2.0.1", 4000, object);
	blkin_span_start(&span, BLKIN_LOCAL, "span api", &here, NULL);
	blkin_span_annotate(&span, "happened");
	blkin_span_finish(&span);
	blkin_init_new_trace(&trace, "classic", &here);
	BLKIN_TIMESTAMP(&trace, NULL, "happened");
	BLKIN_KEYVAL_STRING(&trace, NULL, "text", "value");
	BLKIN_KEYVAL_INTEGER(&trace, NULL, "number", 42);
}

#ifdef __cplusplus
}
#endif

#endif
