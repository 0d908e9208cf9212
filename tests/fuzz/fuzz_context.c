/* SPDX-License-Identifier: BSD-2-Clause */
/* libFuzzer's way into the readers of trace contexts: the same bytes as each header, and as a packed context.
 */
#include <stdint.h>
#include <stdio.h>

#include "context_rules.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *broken = rule_all((const char *)data, size);

	if (broken) {
		fprintf(stderr, "this does not hold: %s\n", broken);
		abort();
	}
	return 0;
}
