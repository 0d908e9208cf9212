/* SPDX-License-Identifier: BSD-2-Clause */
/* Borrowed text: not NUL-terminated, any bytes except NUL. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stdint.h>

struct text {
	const char *data;
	uint32_t size;
};

#endif
