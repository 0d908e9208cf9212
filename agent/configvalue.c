/* SPDX-License-Identifier: BSD-2-Clause */
#include "configvalue.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <glib.h>

#include "uplink.h"

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

static const char *const levels[] = {"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"};

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

static bool valid_text(enum config_type type, const char *value)
{
	char host[256];
	uint16_t port;

	if (type == NAME)
		return *value &&
		       strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
			       strlen(value);
	if (type == ADDRESS_OR_NONE && !*value)
		return true;
	if (type == TEXT)
		return !has_control(value);
	return uplink_parse_server(value, host, &port);
}

static bool parse_level(const char *value, uint64_t *number)
{
	for (size_t i = 0; i < G_N_ELEMENTS(levels); i++) {
		*number = i;
		if (!strcmp(value, levels[i]))
			return true;
	}
	return false;
}

/* Reads a number with its unit, or a level; returns false if it is none. */
static bool parse_number(enum config_type type, const char *value, uint64_t *number)
{
	char *end;

	if (type == LEVEL)
		return parse_level(value, number);
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

static char *print_number(enum config_type type, uint64_t number)
{
	const struct unit *best = NULL;

	if (type == LEVEL)
		return g_strdup(levels[number]);
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

	if (is_text(key) ? set_text(config, key, text) != 0 : !parse_number(key->type, text, &number)) {
		snprintf(error, error_size, "is not what it should be: %s", expected(key->type));
		return -1;
	}
	if (is_text(key))
		return 0;
	if (number < key->min || number > key->max) {
		min = print_number(key->type, key->min);
		max = print_number(key->type, key->max);
		snprintf(error, error_size, "is out of range: it can be %s to %s", min, max);
		return -1;
	}
	*number_field(config, key) = number;
	return 0;
}

char *config_value_print(const struct config *config, const struct config_key *key)
{
	return is_text(key) ? g_strdup(*text_field(config, key))
			    : print_number(key->type, *number_field(config, key));
}
