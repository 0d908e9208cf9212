/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/finding.h"

#include <stdarg.h>
#include <stdio.h>

#include <glib.h>

void finding_add(struct findings *findings, const char *code, const char *fix, const char *what, ...)
{
	struct finding *finding = &findings->list[findings->count];
	va_list args;

	if (findings->count == FINDINGS_MAX)
		return;
	findings->count++;
	finding->code = code;
	g_strlcpy(finding->fix, fix, sizeof(finding->fix));
	va_start(args, what);
	vsnprintf(finding->what, sizeof(finding->what), what, args);
	va_end(args);
}
