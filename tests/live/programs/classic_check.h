/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For the programs classic_*: each checks what the calls return, says which line was wrong, and ends with 1
 * then. Each is built from two translation units of the same source, the second one with -DSECOND.
 */
#ifndef CLASSIC_CHECK_H
#define CLASSIC_CHECK_H

#include <stdio.h>

static int failures;

#define CHECK(condition)                                                                                     \
	do {                                                                                                 \
		if (!(condition)) {                                                                          \
			printf("%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                       \
			failures++;                                                                          \
		}                                                                                            \
	} while (0)

#ifdef __cplusplus
extern "C"
#endif
	int
	second(void);

/* Behind the checks of a source, which the function all() makes. */
#ifdef SECOND
#define CLASSIC_MAIN                                                                                         \
	int second(void)                                                                                     \
	{                                                                                                    \
		all();                                                                                       \
		return failures;                                                                             \
	}
#else
#define CLASSIC_MAIN                                                                                         \
	int main(void)                                                                                       \
	{                                                                                                    \
		all();                                                                                       \
		return failures + second() ? 1 : 0;                                                          \
	}
#endif

#endif
