/* SPDX-License-Identifier: BSD-2-Clause */
/* The smallest fuzzer: whether this machine's clang can link one. */
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return data == NULL && size > 0;
}
