/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/expand.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/sanitize.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"

/* Appends the variable that begins behind the "${" at @at, and returns what follows its "}". */
static const char *expand_one(GString *out, const char *at, char *error, size_t error_size)
{
	size_t size = strspn(at, LETTERS "0123456789");
	const char *rest = at + size, *end = strchr(at, '}'), *value;
	g_autofree char *name = g_strndup(at, size);
	bool has_default = g_str_has_prefix(rest, ":-");

	if (!end) {
		snprintf(error, error_size, "`${%.64s` has no closing brace; ${ itself is written $${", at);
		return NULL;
	}
	if (size == 0 || g_ascii_isdigit(*at) || (rest != end && !has_default)) {
		snprintf(error, error_size,
			"`${%.*s}` is not a variable: write ${NAME} or ${NAME:-DEFAULT}; ${ itself is "
			"written $${",
			(int)MIN(end - at, 64), at);
		return NULL;
	}
	value = getenv(name);
	if (!value && !has_default) {
		snprintf(error, error_size,
			"the environment has no variable `%.64s`: set it, or write ${%.64s:-DEFAULT}", name,
			name);
		return NULL;
	}
	if (value && (words_have_control(value) || !g_utf8_validate(value, -1, NULL))) {
		snprintf(
			error, error_size, "the variable `%.64s` of the environment is not UTF-8 text", name);
		return NULL;
	}
	if (has_default && (!value || !*value))
		g_string_append_len(out, rest + 2, end - rest - 2);
	else
		g_string_append(out, value);
	return end + 1;
}

char *expand_value(const char *value, char *error, size_t error_size)
{
	g_autoptr(GString) out = g_string_new(NULL);
	const char *at = value;

	while (at && *at) {
		if (g_str_has_prefix(at, "$${")) {
			g_string_append(out, "${");
			at += 3;
		} else if (g_str_has_prefix(at, "${")) {
			at = expand_one(out, at + 2, error, error_size);
		} else {
			g_string_append_c(out, *at++);
		}
	}
	return at ? g_strdup(out->str) : NULL;
}

char *expand_quote(const char *value)
{
	g_auto(GStrv) parts = g_strsplit(value, "${", -1);

	return g_strjoinv("$${", parts);
}
