/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/reason.h"

#include <stdarg.h>
#include <stdio.h>

void problem_set(struct problem *problem, enum reason reason, const char *format, ...)
{
	va_list args;

	problem->reason = reason;
	va_start(args, format);
	vsnprintf(problem->text, sizeof(problem->text), format, args);
	va_end(args);
}
