/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/value.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/address.h"
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

/* Which of the words it is, or -1. */
static int find_choice(const char *words, const char *value)
{
	g_auto(GStrv) list = g_strsplit(words, "|", -1);
	int found = -1;

	for (int i = 0; list[i] && found < 0; i++)
		if (!strcmp(list[i], value))
			found = i;
	return found;
}

/* Words with commas between them: a bit for each. */
static bool parse_words(const char *words, const char *value, uint64_t *number)
{
	g_auto(GStrv) list = g_strsplit(value, ",", -1);

	*number = 0;
	for (int i = 0; list[i]; i++) {
		int word = find_choice(words, g_strstrip(list[i]));

		if (word < 0)
			return false;
		*number |= UINT64_C(1) << word;
	}
	return *number != 0;
}

static char *print_words(const char *words, uint64_t number)
{
	g_auto(GStrv) list = g_strsplit(words, "|", -1);
	GString *text = g_string_new(NULL);

	for (int i = 0; list[i]; i++)
		if (number & UINT64_C(1) << i)
			g_string_append_printf(text, "%s%s", text->len ? ", " : "", list[i]);
	return g_string_free(text, FALSE);
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
		return parse_words(key->text, value, number);
	if (type == CHOICE) {
		choice = find_choice(key->text, value);
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
		return print_words(key->text, number);
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
	case SIZE:
		return "a size, such as 64K, 16M or 1G";
	case SHARE:
		return "a share of the traces, such as 1/1 (all) or 1/10";
	case DURATION:
		return "a time, such as 200ms, 5s or 1min";
	default:
		return "a whole number";
	}
}

/* "a, b or c", of "a|b|c"; the caller's. */
static char *list_words(const char *words)
{
	const char *last = strrchr(words, '|');
	GString *text = g_string_new_len(words, last ? last - words : (gssize)strlen(words));

	g_string_replace(text, "|", ", ", 0);
	if (last)
		g_string_append_printf(text, " or %s", last + 1);
	return g_string_free(text, FALSE);
}

/* Says what the value should be. */
static void say_expected(const struct config_key *key, const char *value, char *error, size_t size)
{
	const char *text = expected(key->type);

	if (key->type == CHOICE || key->type == WORDS) {
		g_autofree char *words = list_words(key->text);

		snprintf(error, size, "is not valid: it must be %s%s", words,
			key->type == WORDS && strchr(key->text, '|') ? ", or several, separated by commas"
								     : "");
	} else if (key->type == ADDRESSES && strstr(value, "://")) {
		snprintf(error, size,
			"is a URL: write HOST:PORT here, such as collector:9411, and `type = http` (with "
			"`path`, "
			"and `tls = yes` "
			"for https)");
	} else {
		snprintf(error, size, "is not valid: it must be %s", text);
	}
}

int config_value_set(
	void *values, const struct config_key *key, const char *text, char *error, size_t error_size)
{
	g_autofree char *min = NULL, *max = NULL;
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
		min = print_number(key, key->min);
		max = print_number(key, key->max);
		snprintf(error, error_size, "is out of range: it can be %s to %s", min, max);
		return -1;
	}
	*number_field(values, key) = number;
	return 0;
}

char *config_value_print(const void *values, const struct config_key *key)
{
	return is_text(key) ? g_strdup(*text_field(values, key))
			    : print_number(key, *number_field(values, key));
}
