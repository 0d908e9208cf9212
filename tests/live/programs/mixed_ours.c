/* SPDX-License-Identifier: BSD-2-Clause */
#include "mixed.h"

#include <blkin/blkin.h>

void mixed_ours(void)
{
	struct blkin_endpoint here;
	struct blkin_trace trace;

	blkin_init_endpoint(&here, "10.0.0.1", 5000, "ours");
	for (int i = 0; i < MIXED_SPANS; i++) {
		blkin_init_new_trace(&trace, "span", &here);
		BLKIN_TIMESTAMP(&trace, NULL, "happened");
		BLKIN_KEYVAL_STRING(&trace, NULL, "text", "value");
		BLKIN_KEYVAL_INTEGER(&trace, NULL, "number", i);
	}
}
