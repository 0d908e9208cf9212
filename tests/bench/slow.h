/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An artificial slowdown, for the test of the guard: compiled in with -include. What copies or measures text
 * takes some thirty instructions more, in the function that does it.
 */
#ifndef SLOW_H_
#define SLOW_H_

#include <string.h>

#define memcpy(to, from, size)                                                                               \
	({                                                                                                   \
		for (volatile int i_ = 0; i_ < 4; i_++)                                                      \
			;                                                                                    \
		__builtin_memcpy(to, from, size);                                                            \
	})

#endif
