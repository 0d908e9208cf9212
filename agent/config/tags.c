/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/tags.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

static struct text trimmed(const char *first, const char *end)
{
	while (first < end && *first == ' ')
		first++;
	while (first < end && end[-1] == ' ')
		end--;
	return (struct text){first, (uint32_t)(end - first)};
}

static bool is_key(struct text key)
{
	for (uint32_t i = 0; i < key.size; i++)
		if (!isalnum((unsigned char)key.data[i]) && !strchr("_.-/", key.data[i]))
			return false;
	return key.size > 0 && key.size <= TAGS_KEY_MAX;
}

/* As they stand in any format without an escape. */
static bool is_value(struct text value)
{
	for (uint32_t i = 0; i < value.size; i++)
		if (value.data[i] < 0x20 || value.data[i] > 0x7e || strchr("\"\\", value.data[i]))
			return false;
	return value.size > 0 && value.size <= TAGS_VALUE_MAX;
}

static bool contains(struct text value, const char *what)
{
	return g_strstr_len(value.data, value.size, what);
}

static bool is_equal(struct text one, const char *other, size_t size)
{
	return one.size == size && !memcmp(one.data, other, size);
}

/* Those that say where a span was, in Zipkin's version 1. */
static bool is_zipkins(struct text key)
{
	return is_equal(key, "lc", 2) || is_equal(key, "sa", 2) || is_equal(key, "ca", 2) ||
	       is_equal(key, "ma", 2);
}

static bool has_key(const struct tags *tags, struct text key)
{
	for (size_t i = 0; i < tags->count; i++)
		if (is_equal(tags->of[i].key, key.data, key.size))
			return true;
	return false;
}

const char *tags_key_fault(struct text key)
{
	if (!is_key(key))
		return "a key has 1 to 64 letters, digits, `_`, `.`, `-` and `/`";
	return is_zipkins(key) ? "Zipkin uses `lc`, `sa`, `ca` and `ma` itself" : NULL;
}

/* What is wrong with a tag; NULL: nothing. */
static const char *fault_of(const struct tags *tags, const struct tag *tag)
{
	if (!is_key(tag->key))
		return tags_key_fault(tag->key);
	if (contains(tag->value, ";"))
		return "tags are separated by commas, not by semicolons";
	if (contains(tag->value, " #"))
		return "a value cannot have ` #` in it";
	if (!is_value(tag->value))
		return "a value has 1 to 256 ASCII characters, without commas, quotes, backslashes and "
		       "control characters";
	if (tags_key_fault(tag->key))
		return tags_key_fault(tag->key);
	if (has_key(tags, tag->key))
		return "its key is set twice";
	return NULL;
}

/* Nothing between two commas, before the first, or behind the last. */
static bool has_gap(const char *text)
{
	g_auto(GStrv) entries = g_strsplit(text, ",", -1);
	bool gap = false;

	for (char **entry = entries; *entry; entry++)
		gap |= !*g_strstrip(*entry);
	return gap && *text;
}

int tags_parse(struct tags *tags, const char *text, char *error, size_t size)
{
	tags->count = 0;
	if (has_gap(text)) {
		snprintf(error, size, "is not valid: a comma has no tag before or after it");
		return -1;
	}
	while (*text) {
		const char *end = text + strcspn(text, ","),
			   *equals = memchr(text, '=', (size_t)(end - text));
		struct tag tag = {.key = trimmed(text, equals ? equals : end)};
		const char *fault;

		if (equals)
			tag.value = trimmed(equals + 1, end);
		fault = equals ? fault_of(tags, &tag) : "it must be KEY=VALUE, several separated by commas";
		if (!fault && tags->count == TAGS_MAX)
			fault = "there can be 16 tags at most";
		if (fault) {
			snprintf(error, size, "is not valid at `%.*s`: %s", (int)MIN(end - text, 80), text,
				fault);
			return -1;
		}
		tags->of[tags->count++] = tag;
		text = *end ? end + 1 : end;
	}
	return 0;
}

const char *tags_find_resource_key(const char *text)
{
	static const char *const ours[] = {"service.name", "service.instance.id", "process.pid", "host.name",
		"telemetry.sdk.name", "telemetry.sdk.language", "telemetry.sdk.version"};
	char error[128];
	struct tags tags;

	if (tags_parse(&tags, text, error, sizeof(error)) != 0)
		return NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(ours); i++)
		if (has_key(&tags, (struct text){ours[i], (uint32_t)strlen(ours[i])}))
			return ours[i];
	return NULL;
}
