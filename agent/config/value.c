/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/value.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/address.h"
#include "base/proxyurl.h"
#include "config/choice.h"
#include "config/tags.h"
#include "core/event.h"

static const struct unit {
	enum config_type type;
	const char *name;
	uint64_t factor;
} units[] = {
	{SIZE, "", 1},
	{SIZE, "K", UINT64_C(1) << 10},
	{SIZE, "M", UINT64_C(1) << 20},
	{SIZE, "G", UINT64_C(1) << 30},
	{DURATION, "ms", 1000000},
	{DURATION, "s", 1000000000},
	{DURATION, "min", UINT64_C(60000000000)},
	{DURATION, "h", UINT64_C(3600000000000)},
	{DURATION, "us", 1000},
	{NUMBER, "", 1},
	{SHARE, "", 1},
};

static char **text_field(const void *values, const struct config_key *key)
{
	return (char **)((char *)values + key->offset);
}

static uint64_t *number_field(const void *values, const struct config_key *key)
{
	return (uint64_t *)((char *)values + key->offset);
}

static bool is_text(const struct config_key *key)
{
	return key->type <= ADDRESS_OR_NONE;
}

static void put_text(void *values, const struct config_key *key, const char *text)
{
	g_free(*text_field(values, key));
	*text_field(values, key) = g_strdup(text);
}

void config_values_init(void *values, enum config_scope scope)
{
	for (const struct config_key *key = config_keys; key < config_keys + config_key_count; key++) {
		if (key->scope == scope && is_text(key))
			put_text(values, key, key->text);
		else if (key->scope == scope)
			*number_field(values, key) = key->number;
	}
}

void config_values_clear(void *values, enum config_scope scope)
{
	for (const struct config_key *key = config_keys; key < config_keys + config_key_count; key++)
		if (key->scope == scope && is_text(key))
			g_clear_pointer(text_field(values, key), g_free);
}

void config_value_copy(void *values, const struct config_key *key, const void *from)
{
	if (is_text(key))
		put_text(values, key, *text_field(from, key));
	else
		*number_field(values, key) = *number_field(from, key);
}

bool config_value_equal(const struct config_key *key, const void *one, const void *other)
{
	return is_text(key) ? !strcmp(*text_field(one, key), *text_field(other, key))
			    : *number_field(one, key) == *number_field(other, key);
}

static bool has_control(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return true;
	return false;
}

/* Of the characters that a URL's path and query may have as they are; others stand there as %XX. */
static bool is_path(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("-._~!$&'()*+,;=:@%/?", *text))
			return false;
	return true;
}

static bool valid_text(enum config_type type, const char *value)
{
	struct address addresses[ADDRESSES_MAX];
	struct proxyurl proxy;

	if (type == PROXY)
		return !*value || !proxyurl_parse(value, &proxy);
	if (type == NAME)
		return *value &&
		       strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
			       strlen(value);
	if (type == ADDRESS_OR_NONE && !*value)
		return true;
	if (type == TEXT || type == TAGS)
		return !has_control(value);
	if (type == FOLDER)
		return *value == '/' && !has_control(value);
	if (type == PATH)
		return value[0] == '/' && is_path(value);
	if (type == ADDRESSES)
		return address_parse_list(value, addresses) > 0;
	return address_parse(value, addresses);
}

static bool parse_level(const char *value, uint64_t *number)
{
	for (size_t i = 0; i < EVENT_LEVELS; i++) {
		*number = i;
		if (!strcmp(value, event_level_names[i]))
			return true;
	}
	return false;
}

/* Reads a number with its unit, a level, a choice or words; returns false if it is none. */
static bool parse_number(const struct config_key *key, const char *value, uint64_t *number)
{
	enum config_type type = key->type;
	char *end;
	int choice;

	if (type == LEVEL)
		return parse_level(value, number);
	if (type == WORDS)
		return choice_parse_words(key->text, value, number);
	if (type == CHOICE) {
		choice = choice_find(key->text, value);
		*number = (uint64_t)choice;
		return choice >= 0;
	}
	if (type == SHARE) {
		if (!g_str_has_prefix(value, "1/"))
			return false;
		value += 2;
	}
	if (!isdigit((unsigned char)*value))
		return false;
	errno = 0;
	*number = strtoull(value, &end, 10);
	if (errno)
		return false;
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if (units[i].type == type && !strcmp(units[i].name, end))
			return !__builtin_mul_overflow(*number, units[i].factor, number);
	return false;
}

static char *print_number(const struct config_key *key, uint64_t number)
{
	enum config_type type = key->type;
	const struct unit *best = NULL;

	if (type == WORDS)
		return choice_print_words(key->text, number);
	if (type == CHOICE) {
		g_auto(GStrv) list = g_strsplit(key->text, "|", -1);

		return g_strdup(list[number]);
	}
	if (type == LEVEL)
		return g_strdup(event_level_names[number]);
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if (units[i].type == type && number % units[i].factor == 0 &&
			(!best || (number && units[i].factor > best->factor)))
			best = &units[i];
	return g_strdup_printf(
		"%s%" G_GUINT64_FORMAT "%s", type == SHARE ? "1/" : "", number / best->factor, best->name);
}

static const char *expected(enum config_type type)
{
	switch (type) {
	case TEXT:
		return "text without control characters";
	case NAME:
		return "a name of letters, digits, `_`, `.` and `-`";
	case ADDRESS:
		return "HOST:PORT, such as 127.0.0.1:9410 or [::1]:9410";
	case FOLDER:
		return "the absolute path of a folder";
	case PATH:
		return "a path of a URL, such as /api/v1/spans";
	case ADDRESSES:
		return "HOST:PORT, such as 127.0.0.1:9410 or [::1]:9410, or up to 8 different ones, "
		       "separated by commas";
	case ADDRESS_OR_NONE:
		return "ADDRESS:PORT, such as 127.0.0.1:9412, or empty";
	case LEVEL:
		return "emerg, alert, crit, err, warning, notice, info or debug";
	case SHARE:
		return "a share of the traces, such as 1/1 (all) or 1/10";
	default:
		return "another one";
	}
}

/* "10ms to 10min"; the caller's. */
static char *print_bounds(const struct config_key *key)
{
	g_autofree char *min = print_number(key, key->min), *max = print_number(key, key->max);

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

static void say_word(const struct config_key *key, const char *value, char *error, size_t size)
{
	g_autofree char *words = choice_list(key->text);
	const char *meant = choice_suggest(key->text, value);
	bool several = key->type == WORDS && strchr(key->text, '|');

	snprintf(error, size, "is not valid: it must be %s%s%s%s%s", words,
		several ? ", or several, separated by commas" : "", meant ? "; did you mean `" : "",
		meant ? meant : "", meant ? "`?" : "");
}

/* A URL has the host and port that are wanted, and says more. */
static void say_url(const char *value, char *error, size_t size)
{
	bool tls = g_str_has_prefix(value, "https:");
	const char *host = strstr(value, "://") + strlen("://"), *path = host + strcspn(host, "/,");
	bool has_port = memchr(host, ':', (size_t)(path - host)), otlp = strstr(value, "/v1/traces");
	size_t end = strcspn(path, ", ");

	snprintf(error, size, "is a URL: write `type = %s`, `server = %.*s%s`%s%.*s%s%s",
		otlp ? "otlp" : "http", (int)MIN(path - host, 64), host,
		has_port ? ""
		: tls    ? ":443"
			 : ":80",
		end > 1 ? ", `path = " : "", (int)(end > 1 ? MIN(end, 64) : 0), path, end > 1 ? "`" : "",
		tls ? " and `tls = yes`" : "");
}

/* Says what the value should be. */
static void say_expected(const struct config_key *key, const char *value, char *error, size_t size)
{
	struct proxyurl proxy;

	if (key->type == PROXY)
		g_strlcpy(error, proxyurl_parse(value, &proxy), size);
	else if (key->type == CHOICE || key->type == WORDS)
		say_word(key, value, error, size);
	else if (key->type == DURATION || key->type == SIZE || key->type == NUMBER)
		say_number(key, error, size);
	else if (key->type == ADDRESSES && strstr(value, "://"))
		say_url(value, error, size);
	else
		snprintf(error, size, "is not valid: it must be %s", expected(key->type));
}

int config_value_set(
	void *values, const struct config_key *key, const char *text, char *error, size_t error_size)
{
	g_autofree char *bounds = NULL;
	uint64_t number = 0;
	struct tags tags;

	if (key->type == TAGS && tags_parse(&tags, text, error, error_size) != 0)
		return -1;
	if (is_text(key) ? !valid_text(key->type, text) : !parse_number(key, text, &number)) {
		say_expected(key, text, error, error_size);
		return -1;
	}
	if (is_text(key)) {
		put_text(values, key, text);
		return 0;
	}
	if (number < key->min || number > key->max) {
		bounds = print_bounds(key);
		snprintf(error, error_size, "is out of range: it can be %s", bounds);
		return -1;
	}
	*number_field(values, key) = number;
	return 0;
}

char *config_value_print(const void *values, const struct config_key *key)
{
	if (key->type == PROXY)
		return proxyurl_conceal(*text_field(values, key));
	return is_text(key) ? g_strdup(*text_field(values, key))
			    : print_number(key, *number_field(values, key));
}
