/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/finding.h"

#include <stdarg.h>
#include <stdio.h>

#include <glib.h>

#include "base/json.h"

void finding_add(struct findings *findings, const char *code, const char *fix, const char *what, ...)
{
	struct finding *finding = &findings->list[findings->count];
	va_list args;

	if (findings->count == FINDINGS_MAX)
		return;
	findings->count++;
	finding->code = code;
	finding->about = findings->about;
	g_strlcpy(finding->fix, fix, sizeof(finding->fix));
	va_start(args, what);
	vsnprintf(finding->what, sizeof(finding->what), what, args);
	va_end(args);
}

static void write_member(struct buffer *out, const char *key, const char *text)
{
	json_key(out, key);
	json_text(out, text);
}

void finding_add_no_program(struct findings *findings, bool events, bool before)
{
	g_autofree char *fix = g_strconcat(before ? "nothing, if those have ended; or else " : "",
		events ? "start one that includes <blkin/blkin.h>, or one with tracepoints that [events] "
			 "names"
		       : "start one that includes <blkin/blkin.h>; with BLKIN_DEBUG=1 in its environment it "
			 "says so if it cannot be traced: it needs libblkin-provider.so.1 (package "
			 "libblkin-provider)",
		NULL);

	finding_add(findings, "no-program", fix, "no program is registered with LTTng%s",
		before ? " now; events came before" : "");
}

void findings_write_json(struct buffer *out, const struct findings *findings)
{
	json_open(out, '[');
	for (size_t i = 0; i < findings->count; i++) {
		json_open(out, '{');
		write_member(out, "code", findings->list[i].code);
		write_member(out, "about", findings->list[i].about);
		write_member(out, "what", findings->list[i].what);
		write_member(out, "fix", findings->list[i].fix);
		json_close(out, '}');
	}
	json_close(out, ']');
}
