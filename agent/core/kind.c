/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/kind.h"

#include <string.h>

#include <glib.h>

const char *kind_name(enum kind kind)
{
	static const char *const names[KINDS] = {
		[KIND_SPANS] = "spans", [KIND_EVENTS] = "events", [KIND_MESSAGES] = "messages"};

	return names[kind];
}

char *kind_text(enum kind kind, const char *text)
{
	static const char *const words[KINDS][2] = {
		[KIND_EVENTS] = {"event", "Event"}, [KIND_MESSAGES] = {"message", "Message"}};
	GString *made = g_string_new(text);

	if (kind != KIND_SPANS) {
		g_string_replace(made, "span", words[kind][0], 0);
		g_string_replace(made, "Span", words[kind][1], 0);
	}
	return g_string_free(made, FALSE);
}

char *lane_name(const char *output, enum kind kind)
{
	return kind == KIND_SPANS ? g_strdup(output) : g_strconcat(output, ":", kind_name(kind), NULL);
}

enum kind lane_kind(const char *lane, size_t *size)
{
	const char *colon = strchr(lane, ':');
	int kind = KINDS - 1;

	while (colon && kind > KIND_SPANS && strcmp(colon + 1, kind_name(kind)) != 0)
		kind--;
	if (!colon)
		kind = KIND_SPANS;
	if (size)
		*size = kind == KIND_SPANS ? strlen(lane) : (size_t)(colon - lane);
	return kind;
}
