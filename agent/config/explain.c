/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/explain.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/proxyurl.h"
#include "config/choice.h"
#include "config/config.h"
#include "config/contexts.h"
#include "config/globs.h"
#include "config/outputtype.h"
#include "config/pairrules.h"
#include "config/tagrules.h"
#include "config/tags.h"
#include "config/urladvice.h"
#include "config/value.h"
#include "core/event.h"

/* Types */

/* NULL: no file says which it is. */
static const struct output_type *known(int type)
{
	return type == OUTPUT_NO_TYPE ? NULL : output_types[type];
}

static bool fits(const struct config_key *key, int type)
{
	return key->scope != SCOPE_OUTPUT || !known(type) || !known(type)->takes ||
	       known(type)->keys & key->group;
}

char *explain_misfit(const struct config_key *key, int type)
{
	GString *list = g_string_new(NULL);
	char *text;
	g_autofree char *names = NULL;

	for (int i = 0; i < CONFIG_OUTPUT_TYPES; i++)
		if (output_types[i]->keys & key->group)
			g_string_append_printf(list, "%s%s", list->len ? "|" : "", output_types[i]->name);
	names = choice_list(list->str);
	text = g_strdup_printf("is for type %s, but the type is %s", names, output_types[type]->name);
	g_string_free(list, TRUE);
	return text;
}

char *explain_instead(const struct config_key *key, int type)
{
	const char *words = known(type) ? output_advice_find(known(type)->keys_meant, key->name) : NULL;

	return words ? g_strconcat("; ", words, NULL) : g_strdup("");
}

/* Those of the words for which there is a bit; the caller's. */
static char *some_of(const char *words, unsigned bits)
{
	g_auto(GStrv) list = g_strsplit(words, "|", -1);
	GString *text = g_string_new(NULL);

	for (int i = 0; list[i]; i++)
		if (bits & 1u << i)
			g_string_append_printf(text, "%s%s", text->len ? "|" : "", list[i]);
	return g_string_free(text, FALSE);
}

/* The words that the key takes with the type; the caller's. */
static char *words_of(const struct config_key *key, int type)
{
	const struct output_type *is = known(type);

	if (is && is->takes && !strcmp(key->name, "takes"))
		return some_of(key->text, is->takes);
	if (is && is->formats && !strcmp(key->name, "format"))
		return some_of(key->text, is->formats);
	return g_strdup(key->text);
}

/* Values */

static const char *expected(enum config_type type)
{
	switch (type) {
	case NAME:
		return "a name of letters, digits, `_`, `.` and `-`";
	case FOLDER:
		return "the absolute path of a folder";
	case FILE_OR_NONE:
		return "the absolute path of a file";
	case PATH:
		return "a path of a URL, such as /api/v1/spans";
	case ADDRESS_OR_NONE:
		return "ADDRESS:PORT, such as 127.0.0.1:9412, or empty";
	case SOCKET_OR_NONE:
		return "ADDRESS:PORT, usually 127.0.0.1:1463 in `scribe`, 127.0.0.1:4318 in `otlp`, "
		       "127.0.0.1:4317 in `otlp-grpc`; "
		       "the absolute path of a socket, of 107 characters at most; or empty";
	case SHARE:
		return "a share of the traces, such as 1/1 (all) or 1/10, or auto";
	default:
		return "text without control characters";
	}
}

/* "10ms to 10min"; the caller's. */
static char *print_bounds(const struct config_key *key)
{
	const uint64_t least = key->type == SHARE ? 1 : key->min; /* and auto */
	g_autofree char *min = config_number_print(key, least), *max = config_number_print(key, key->max);

	return g_strdup_printf("%s to %s", min, max);
}

static void say_number(const struct config_key *key, char *error, size_t size)
{
	g_autofree char *bounds = print_bounds(key);

	snprintf(error, size, "is not valid: it must be a %s from %s%s",
		key->type == DURATION ? "time"
		: key->type == SIZE   ? "size"
		: key->type == RATE   ? "rate"
				      : "whole number",
		bounds,
		key->type == DURATION ? ", with its unit: us, ms, s, min or h"
		: key->type == SIZE   ? ", in bytes, or with K, M or G"
				      : "");
}

/* @other: the word for what others call so, if that is known. */
static void say_word(
	const char *words, bool several, const char *value, const char *other, char *error, size_t size)
{
	g_autofree char *list = choice_list(words);
	const char *meant = other ? other : choice_suggest(words, value);

	snprintf(error, size, "is not valid: it must be %s%s%s%s%s", list,
		several && strchr(words, '|') ? ", or several, separated by commas" : "",
		meant ? "; did you mean `" : "", meant ? meant : "", meant ? "`?" : "");
}

static void say_level(const char *value, char *error, size_t size)
{
	char *names[EVENT_LEVELS + 1] = {0};
	g_autofree char *words = NULL;

	for (size_t i = 0; i < EVENT_LEVELS; i++)
		names[i] = (char *)event_level_names[i];
	words = g_strjoinv("|", names);
	say_word(words, false, value, NULL, error, size);
}

static void say_addresses(const struct config_key *key, int type, char *error, size_t size)
{
	const char *port = url_usual_port(key, type);

	snprintf(error, size,
		"is not valid: it must be HOST:PORT, such as 127.0.0.1:%s or [::1]:%s, or up to 8 different "
		"ones, separated by commas",
		port, port);
}

static void say_number_or_range(const struct config_key *key, const char *value, char *error, size_t size)
{
	g_autofree char *bounds = NULL;
	uint64_t number;

	if (config_number_parse(key, value, &number)) {
		bounds = print_bounds(key);
		snprintf(error, size, "is out of range: it can be %s%s", bounds,
			key->type == SHARE ? ", or auto" : "");
	} else if (key->type == SHARE) {
		snprintf(error, size, "is not valid: it must be %s", expected(key->type));
	} else {
		say_number(key, error, size);
	}
}

static void say_text(const struct config_key *key, const char *value, char *error, size_t size)
{
	/* the hint says all of it */
	if (key->type == TEXT && config_text_trap(value))
		g_strlcpy(error, "is not valid", size);
	else
		snprintf(error, size, "is not valid: it must be %s", expected(key->type));
}

static void say_choice(const struct config_key *key, const char *text, int type, char *error, size_t size)
{
	g_autofree char *words = words_of(key, type);
	const char *other = strcmp(key->name, "type") == 0 ? output_type_meant(text) : NULL;

	say_word(words, key->type == WORDS, text, other, error, size);
}

static void say_misfit(const struct config_key *key, int type, char *error, size_t size)
{
	g_autofree char *misfit = explain_misfit(key, type), *instead = explain_instead(key, type);

	snprintf(error, size, "%s%s", misfit, instead);
}

void explain_value(const struct config_key *key, const char *text, int type, char *error, size_t size)
{
	struct contexts contexts;
	struct pair_rules rules;
	struct tags tags;
	struct proxyurl proxy;

	if (!fits(key, type)) {
		say_misfit(key, type, error, size);
		return;
	}
	switch (key->type) {
	case CHOICE:
	case WORDS:
		say_choice(key, text, type, error, size);
		break;
	case LEVEL:
		say_level(text, error, size);
		break;
	case NUMBER:
	case SIZE:
	case SHARE:
	case RATE:
	case DURATION:
		say_number_or_range(key, text, error, size);
		break;
	case ADDRESSES:
		if (strstr(text, "://"))
			url_advise(key, text, type, error, size);
		else
			say_addresses(key, type, error, size);
		break;
	case PROXY:
		g_strlcpy(error, proxyurl_parse(text, &proxy), size);
		break;
	case GLOBS:
		globs_check(text, error, size);
		break;
	case SYMBOLS:
		globs_check_symbols(text, error, size);
		break;
	case CONTEXTS:
		contexts_parse(&contexts, text, error, size);
		break;
	case PAIRS:
		pair_rules_parse(&rules, text, error, size);
		break;
	case TAG_GLOBS:
		tagrules_check_globs(text, error, size);
		break;
	case TAG_RENAMES:
		tagrules_check_renames(text, error, size);
		break;
	case TAGS:
		if (tags_parse(&tags, text, error, size) == 0)
			say_text(key, text, error, size);
		break;
	default:
		say_text(key, text, error, size);
	}
}

/* Names of keys */

#define PLACES "|host|port|url|uri|endpoint|address|addr|hostname|collector|collectors|servers|"

/* What others call it, in lowercase and with `-`, and the advice. */
static const struct output_advice others[] = {
	{"|bootstrap-servers|bootstrap-server|broker|", "did you mean `brokers`?"},
	{"|sample|sampling|sampler|sample-rate|sampling-rate|ratio|", "did you mean `keep`?"},
	{"|verify|tls-verify|ssl-verify|verify-tls|verify-ssl|tls-insecure|insecure|tls-skip-verify|skip-"
	 "verify|"
	 "insecure-skip-verify|tls-insecure-skip-verify|verify-certificate|",
		"the server's certificate is always verified: see `tls-ca`"},
	{"|token|auth|authorization|bearer|bearer-token|api-key|apikey|header|headers|tenant|",
		"write it into a file, and name that in `headers-file`"},
	{"|user|username|login|", "write a header into a file, and name that in `headers-file`"},
	{"|password|password-file|", "write a header into a file, and name that in `headers-file`"},
	{"|protocol|", "did you mean `type`?"},
	{"|ssl|", "did you mean `tls`?"},
	{"|ca|ca-file|cafile|ca-cert|cacert|tls-ca-file|", "did you mean `tls-ca`?"},
	{"|cert|cert-file|certificate|tls-cert|tls-cert-file|", "did you mean `tls-certificate`?"},
	{"|key-file|tls-key-file|private-key|", "did you mean `tls-key`?"},
	{0},
};

static const struct output_advice inputs[] = {
	{"|otlp-http|http|opentelemetry|otel|", "did you mean `otlp`?"},
	{"|grpc|", "did you mean `otlp-grpc`?"},
	{"|thrift|", "did you mean `scribe`?"},
	{0},
};

/* The caller's; NULL if nobody calls anything so. */
static char *find_other(const char *name, int type)
{
	const struct output_type *is = known(type);
	const char *words = is ? output_advice_find(is->keys_meant, name) : NULL;

	if (output_list_has(PLACES, name))
		return g_strdup_printf(
			"write `%s = HOST:PORT`", is && output_type_has_servers(is) ? is->place : "server");
	return g_strdup(words ? words : output_advice_find(others, name));
}

char *explain_name(const char *section, const char *name, int type)
{
	g_autofree char *lower = g_ascii_strdown(name, -1), *plain = g_strdelimit(g_strdup(lower), "_.", '-');
	const char *elsewhere = config_key_section(name), *near = config_key_suggest(section, lower);
	g_autofree char *other = strcmp(section, "output") == 0 ? find_other(plain, type) : NULL;
	const char *input = strcmp(section, "input") == 0 ? output_advice_find(inputs, plain) : NULL;

	if (input)
		return g_strdup_printf("; %s", input);
	if (elsewhere)
		return g_strdup_printf("; it belongs in [%s]", elsewhere);
	if (config_key_find(section, lower))
		return g_strdup_printf("; keys are lowercase: write `%s`", lower);
	if (other)
		return g_strdup_printf("; %s", other);
	if (near)
		return g_strdup_printf("; did you mean `%s`?", near);
	return g_strdup("; blkin-agent.conf(5) lists the keys");
}
