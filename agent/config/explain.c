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
#include "config/tagrules.h"
#include "config/tags.h"
#include "config/urladvice.h"
#include "config/value.h"
#include "core/event.h"

/* Types */

static bool fits(const struct config_key *key, int type)
{
	return key->scope != SCOPE_OUTPUT || type == EXPLAIN_NO_TYPE || type == CONFIG_OUTPUT_NONE ||
	       key->types & 1u << type;
}

char *explain_misfit(const struct config_key *key, int type)
{
	g_auto(GStrv) names = g_strsplit(config_key_find("output", "type")->text, "|", -1);
	GString *text = g_string_new("is for type ");
	unsigned left = key->types;

	for (int i = 0; names[i]; i++) {
		if (!(left & 1u << i))
			continue;
		g_string_append_printf(text, "%s%s",
			left == key->types        ? ""
			: left & ~((2u << i) - 1) ? ", "
						  : " or ",
			names[i]);
		left &= ~(1u << i);
	}
	g_string_append_printf(text, ", but the type is %s", names[type]);
	return g_string_free(text, FALSE);
}

const char *explain_instead(const struct config_key *key, int type)
{
	if (!strcmp(key->name, "server") && type == CONFIG_OUTPUT_KAFKA)
		return "; write `brokers`";
	if (!strcmp(key->name, "balance") && type == CONFIG_OUTPUT_KAFKA)
		return "; Kafka shares messages out over its brokers itself";
	if (!strcmp(key->name, "brokers") && type != CONFIG_OUTPUT_FILE)
		return "; write `server`";
	return "";
}

/* The words that the key takes with the type. */
static const char *words_of(const struct config_key *key, int type)
{
	if (!strcmp(key->name, "takes") && type == CONFIG_OUTPUT_HTTP)
		return "spans";
	if (strcmp(key->name, "format") != 0)
		return key->text;
	switch (type) {
	case CONFIG_OUTPUT_HTTP:
		return "thrift|json2";
	case CONFIG_OUTPUT_KAFKA:
		return "thrift|json2|otlp";
	case CONFIG_OUTPUT_FILE:
		return "json2|otlp-json";
	default:
		return key->text;
	}
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
		return "ADDRESS:PORT, such as 127.0.0.1:1463, the absolute path of a socket, of 107 "
		       "characters "
		       "at most, or empty";
	case SHARE:
		return "a share of the traces, such as 1/1 (all) or 1/10";
	default:
		return "text without control characters";
	}
}

/* "10ms to 10min"; the caller's. */
static char *print_bounds(const struct config_key *key)
{
	g_autofree char *min = config_number_print(key, key->min), *max = config_number_print(key, key->max);

	return g_strdup_printf("%s to %s", min, max);
}

static void say_number(const struct config_key *key, char *error, size_t size)
{
	g_autofree char *bounds = print_bounds(key);

	snprintf(error, size, "is not valid: it must be a %s from %s%s",
		key->type == DURATION ? "time"
		: key->type == SIZE   ? "size"
				      : "whole number",
		bounds,
		key->type == DURATION ? ", with its unit: us, ms, s, min or h"
		: key->type == SIZE   ? ", in bytes, or with K, M or G"
				      : "");
}

static void say_word(const char *words, bool several, const char *value, char *error, size_t size)
{
	g_autofree char *list = choice_list(words);
	const char *meant = choice_suggest(words, value);

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
	say_word(words, false, value, error, size);
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
		snprintf(error, size, "is out of range: it can be %s", bounds);
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

void explain_value(const struct config_key *key, const char *text, int type, char *error, size_t size)
{
	struct contexts contexts;
	struct tags tags;
	struct proxyurl proxy;
	g_autofree char *misfit = fits(key, type) ? NULL : explain_misfit(key, type);

	if (misfit) {
		snprintf(error, size, "%s%s", misfit, explain_instead(key, type));
		return;
	}
	switch (key->type) {
	case CHOICE:
	case WORDS:
		say_word(words_of(key, type), key->type == WORDS, text, error, size);
		break;
	case LEVEL:
		say_level(text, error, size);
		break;
	case NUMBER:
	case SIZE:
	case SHARE:
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
	case CONTEXTS:
		contexts_parse(&contexts, text, error, size);
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

/* What others call it, in lowercase and with `-`, and the advice; of Kafka the second one, if there is one.
 */
static const struct other {
	const char *names, *advice, *kafkas;
} others[] = {
	{"|host|port|url|uri|endpoint|address|addr|hostname|collector|collectors|servers|",
		"write `server = HOST:PORT`", "write `brokers = HOST:PORT`"},
	{"|bootstrap-servers|bootstrap-server|broker|", "did you mean `brokers`?", NULL},
	{"|sample|sampling|sampler|sample-rate|sampling-rate|ratio|", "did you mean `keep`?", NULL},
	{"|verify|tls-verify|ssl-verify|verify-tls|verify-ssl|tls-insecure|insecure|tls-skip-verify|skip-"
	 "verify|"
	 "insecure-skip-verify|tls-insecure-skip-verify|verify-certificate|",
		"the server's certificate is always verified: see `tls-ca`", NULL},
	{"|token|auth|authorization|bearer|bearer-token|api-key|apikey|header|headers|tenant|",
		"write it into a file, and name that in `headers-file`", NULL},
	{"|user|username|login|", "write a header into a file, and name that in `headers-file`",
		"did you mean `sasl-user`?"},
	{"|password|password-file|", "write a header into a file, and name that in `headers-file`",
		"did you mean `sasl-password-file`?"},
	{"|protocol|", "did you mean `type`?", NULL},
	{"|ssl|", "did you mean `tls`?", NULL},
	{"|ca|ca-file|cafile|ca-cert|cacert|tls-ca-file|", "did you mean `tls-ca`?", NULL},
	{"|cert|cert-file|certificate|tls-cert|tls-cert-file|", "did you mean `tls-certificate`?", NULL},
	{"|key-file|tls-key-file|private-key|", "did you mean `tls-key`?", NULL},
};

static const char *find_other(const char *name, int type)
{
	g_autofree char *framed = g_strconcat("|", name, "|", NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(others); i++)
		if (strstr(others[i].names, framed))
			return type == CONFIG_OUTPUT_KAFKA && others[i].kafkas ? others[i].kafkas
									       : others[i].advice;
	return NULL;
}

char *explain_name(const char *section, const char *name, int type)
{
	g_autofree char *lower = g_ascii_strdown(name, -1), *plain = g_strdelimit(g_strdup(lower), "_.", '-');
	const char *elsewhere = config_key_section(name), *near = config_key_suggest(section, lower),
		   *other = strcmp(section, "output") == 0 ? find_other(plain, type) : NULL;

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
