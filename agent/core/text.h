/* SPDX-License-Identifier: BSD-2-Clause */
/* Text as it stands somewhere else: borrowed, not NUL-terminated, of any bytes but NUL. */
#ifndef CORE_TEXT_H
#define CORE_TEXT_H

#include <stdint.h>

struct text {
	const char *data;
	uint32_t size;
};

#endif
