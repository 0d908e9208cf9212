/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/value.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include <glib.h>

#include "base/address.h"
#include "base/proxyurl.h"
#include "base/sanitize.h"
#include "config/choice.h"
#include "config/contexts.h"
#include "config/globs.h"
#include "config/pairrules.h"
#include "config/tagrules.h"
#include "config/tags.h"
#include "core/event.h"

/* As much as the kernel takes, with a NUL. */
#define SOCKET_PATH_SIZE sizeof(((struct sockaddr_un *)NULL)->sun_path)

/* A share that is found out while the agent runs. */
#define CONFIG_AUTO "auto"

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
	{RATE, "/s", 1},
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
	return key->type <= SOCKET_OR_NONE;
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

/* Of the characters that a URL's path and query may have as they are; others stand there as %XX. */
static bool is_path(const char *text)
{
	for (; *text; text++)
		if (!isalnum((unsigned char)*text) && !strchr("-._~!$&'()*+,;=:@%/?", *text))
			return false;
	return true;
}

bool config_text_trap(const char *text)
{
	size_t size = strlen(text);
	bool quoted = size >= 2 && strchr("\"'", text[0]) && text[0] == text[size - 1];

	return quoted || (*text == '/' && strstr(text, " #"));
}

static bool valid_text(enum config_type type, const char *value)
{
	struct address addresses[ADDRESSES_MAX];
	struct contexts contexts;
	struct pair_rules rules;
	struct tags tags;
	char error[512];
	struct proxyurl proxy;

	if (type == GLOBS)
		return !*value || globs_check(value, error, sizeof(error)) == 0;
	if (type == SYMBOLS)
		return !*value || globs_check_symbols(value, error, sizeof(error)) == 0;
	if (type == CONTEXTS)
		return !*value || contexts_parse(&contexts, value, error, sizeof(error)) == 0;
	if (type == PAIRS)
		return pair_rules_parse(&rules, value, error, sizeof(error)) == 0;
	if (type == PROXY)
		return !*value || !proxyurl_parse(value, &proxy);
	if (type == NAME)
		return *value &&
		       strspn(value, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
			       strlen(value);
	if ((type == ADDRESS_OR_NONE || type == SOCKET_OR_NONE) && !*value)
		return true;
	if (type == SOCKET_OR_NONE && *value == '/')
		return strlen(value) < SOCKET_PATH_SIZE && !words_have_control(value) &&
		       !config_text_trap(value);
	if (type == TAGS)
		return tags_parse(&tags, value, error, sizeof(error)) == 0 && !words_have_control(value);
	if (type == TAG_GLOBS)
		return !*value || tagrules_check_globs(value, error, sizeof(error)) == 0;
	if (type == TAG_RENAMES)
		return !*value || tagrules_check_renames(value, error, sizeof(error)) == 0;
	if (type == TEXT)
		return !words_have_control(value) && !config_text_trap(value);
	if (type == FILE_OR_NONE && !*value)
		return true;
	if (type == FOLDER || type == FILE_OR_NONE)
		return *value == '/' && !words_have_control(value) && !config_text_trap(value);
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

bool config_number_parse(const struct config_key *key, const char *value, uint64_t *number)
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
	if (type == SHARE && !strcmp(value, CONFIG_AUTO)) {
		*number = 0;
		return true;
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
	if (type == SHARE && !*number)
		*number = UINT64_MAX; /* out of range */
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if (units[i].type == type && !strcmp(units[i].name, end))
			return !__builtin_mul_overflow(*number, units[i].factor, number);
	return false;
}

char *config_number_print(const struct config_key *key, uint64_t number)
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
	if (type == SHARE && !number)
		return g_strdup(CONFIG_AUTO);
	for (size_t i = 0; i < G_N_ELEMENTS(units); i++)
		if (units[i].type == type && number % units[i].factor == 0 &&
			(!best || (number && units[i].factor > best->factor)))
			best = &units[i];
	return g_strdup_printf(
		"%s%" G_GUINT64_FORMAT "%s", type == SHARE ? "1/" : "", number / best->factor, best->name);
}

/* "/a/" is "/a", and is compared as such. */
static void cut_slashes(char *folder)
{
	for (size_t size = strlen(folder); size > 1 && folder[size - 1] == '/'; size--)
		folder[size - 1] = '\0';
}

int config_value_set(void *values, const struct config_key *key, const char *text)
{
	uint64_t number = 0;

	if (is_text(key)) {
		if (!valid_text(key->type, text))
			return -1;
		put_text(values, key, text);
		if (key->type == FOLDER)
			cut_slashes(*text_field(values, key));
		return 0;
	}
	if (!config_number_parse(key, text, &number) || number < key->min || number > key->max)
		return -1;
	*number_field(values, key) = number;
	return 0;
}

char *config_value_print(const void *values, const struct config_key *key)
{
	if (key->type == PROXY)
		return proxyurl_conceal(*text_field(values, key));
	return is_text(key) ? g_strdup(*text_field(values, key))
			    : config_number_print(key, *number_field(values, key));
}
