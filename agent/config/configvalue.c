/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/configvalue.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "base/address.h"
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
};

static char **text_field(const struct config *config, const struct config_key *key)
{
	return (char **)((char *)config + key->offset);
}

static uint64_t *number_field(const struct config *config, const struct config_key *key)
{
	return (uint64_t *)((char *)config + key->offset);
}

static bool is_text(const struct config_key *key)
{
	return key->type <= ADDRESS_OR_NONE;
}

void config_value_set_default(struct config *config, const struct config_key *key)
{
	if (is_text(key))
		*text_field(config, key) = g_strdup(key->text);
	else
		*number_field(config, key) = key->number;
}

void config_value_free(struct config *config, const struct config_key *key)
{
	if (is_text(key))
		g_clear_pointer(text_field(config, key), g_free);
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
	if (type == TEXT)
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

/* Reads a number with its unit, a level or a choice; returns false if it is none. */
static bool parse_number(const struct config_key *key, const char *value, uint64_t *number)
{
	enum config_type type = key->type;
	char *end;
	int choice;

	if (type == LEVEL)
		return parse_level(value, number);
	if (type == CHOICE) {
		choice = find_choice(key->text, value);
		*number = (uint64_t)choice;
		return choice >= 0;
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
	return g_strdup_printf("%" G_GUINT64_FORMAT "%s", number / best->factor, best->name);
}

static const char *expected(enum config_type type)
{
	switch (type) {
	case TEXT:
		return "text without control characters";
	case NAME:
		return "a name of letters, digits, `_`, `.` and `-`";
	case ADDRESS:
		return "HOST:PORT, as 127.0.0.1:9410 or [::1]:9410";
	case FOLDER:
		return "a folder's path, from / on";
	case PATH:
		return "a path of a URL, as /api/v1/spans";
	case ADDRESSES:
		return "HOST:PORT, as 127.0.0.1:9410 or [::1]:9410, or up to 8 different ones with commas";
	case ADDRESS_OR_NONE:
		return "ADDRESS:PORT, as 127.0.0.1:9412, or nothing";
	case LEVEL:
		return "emerg, alert, crit, err, warning, notice, info or debug";
	case SIZE:
		return "a size, as 64K, 16M or 1G";
	case DURATION:
		return "a time, as 200ms, 5s or 1min";
	default:
		return "a whole number";
	}
}

/* Says what the value should be. */
static void say_expected(const struct config_key *key, const char *value, char *error, size_t size)
{
	const char *text = expected(key->type);

	if (key->type == CHOICE) {
		g_auto(GStrv) list = g_strsplit(key->text, "|", -1);
		g_autofree char *words = g_strjoinv(" or ", list);

		snprintf(error, size, "is not what it should be: %s", words);
	} else if (key->type == ADDRESSES && strstr(value, "://")) {
		snprintf(error, size,
			"is a URL: write HOST:PORT here, as collector:9411, and `type = http` (with `path`, "
			"and `tls = yes` "
			"for https)");
	} else {
		snprintf(error, size, "is not what it should be: %s", text);
	}
}

static int set_text(struct config *config, const struct config_key *key, const char *value)
{
	if (!valid_text(key->type, value))
		return -1;
	g_free(*text_field(config, key));
	*text_field(config, key) = g_strdup(value);
	return 0;
}

int config_value_set(
	struct config *config, const struct config_key *key, const char *text, char *error, size_t error_size)
{
	g_autofree char *min = NULL, *max = NULL;
	uint64_t number = 0;

	if (is_text(key) ? set_text(config, key, text) != 0 : !parse_number(key, text, &number)) {
		say_expected(key, text, error, error_size);
		return -1;
	}
	if (is_text(key))
		return 0;
	if (number < key->min || number > key->max) {
		min = print_number(key, key->min);
		max = print_number(key, key->max);
		snprintf(error, error_size, "is out of range: it can be %s to %s", min, max);
		return -1;
	}
	*number_field(config, key) = number;
	return 0;
}

char *config_value_print(const struct config *config, const struct config_key *key)
{
	return is_text(key) ? g_strdup(*text_field(config, key))
			    : print_number(key, *number_field(config, key));
}
