/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/thresholds.h"

#include <stdio.h>
#include <string.h>

#include "config/choice.h"
#include "config/value.h"

#define WORDS "mean|p99|errors"
#define DAY UINT64_C(86400000000000)

const char *const limit_names[LIMITS] = {"mean", "p99", "errors"};

static void threshold_free(void *data)
{
	struct threshold *threshold = data;

	g_free(threshold->pattern);
	g_free(threshold->value);
	g_pattern_spec_free(threshold->service);
	g_pattern_spec_free(threshold->span);
	g_free(threshold);
}

GPtrArray *thresholds_create(void)
{
	return g_ptr_array_new_with_free_func(threshold_free);
}

/* One limit */

static bool read_time(const char *text, double *ns)
{
	static const struct config_key time = {.type = DURATION, .min = 0, .max = DAY};
	uint64_t number;

	if (!config_number_parse(&time, text, &number) || number > DAY)
		return false;
	*ns = (double)number;
	return true;
}

/* A number is digits with a point: no sign, exponent or word that strtod takes, too. */
static bool read_share(const char *text, double *share)
{
	size_t digits = strspn(text, "0123456789.");
	char *end;

	*share = g_ascii_strtod(text, &end) / 100;
	return g_ascii_isdigit(*text) && end == text + digits && !strcmp(g_strchug(end), "%") && *share <= 1;
}

static void say_share(const char *text, char *error, size_t size)
{
	snprintf(error, size,
		"`errors %.64s` is not valid: it must be a share of the spans from 0%% to 100%%, such as 1%%",
		text);
}

static void say_time(const char *name, const char *text, char *error, size_t size)
{
	snprintf(error, size,
		"`%s %.64s` is not valid: it must be a time up to 24h, with its unit: us, ms, s, min or h",
		name, text);
}

static void say_word(const char *word, char *error, size_t size)
{
	const char *meant = choice_suggest(WORDS, word);

	snprintf(error, size,
		"`%.64s` is no limit: write a time (of the mean), `mean TIME`, `p99 TIME`, `errors SHARE%%`, "
		"several separated by commas, or `none`%s%s%s",
		word, meant ? "; did you mean `" : "", meant ? meant : "", meant ? "`?" : "");
}

static void say_nothing(int which, char *error, size_t size)
{
	snprintf(error, size, "`%s` has no value behind it: write, for example, `%s %s`", limit_names[which],
		limit_names[which], which == LIMIT_ERRORS ? "1%" : "20ms");
}

/* Takes the word before the value off @text; a time alone is the mean's. */
static int take_word(char **text)
{
	char *space;
	int which;

	if (g_ascii_isdigit(**text))
		return LIMIT_MEAN;
	space = *text + strcspn(*text, " \t");
	if (*space)
		*space++ = '\0';
	which = choice_find(WORDS, *text);
	if (which >= 0)
		*text = g_strchug(space);
	return which;
}

/* "20ms", "p99 50ms" or "errors 1%"; changes @text. */
static int read_limit(struct limits *limits, char *text, char *error, size_t size)
{
	int which = take_word(&text);

	if (which < 0) {
		say_word(text, error, size);
	} else if (!*text) {
		say_nothing(which, error, size);
	} else if (limits->of[which] >= 0) {
		snprintf(error, size, "`%s` is set twice", limit_names[which]);
	} else if (which == LIMIT_ERRORS) {
		if (read_share(text, &limits->of[which]))
			return 0;
		say_share(text, error, size);
	} else {
		if (read_time(text, &limits->of[which]))
			return 0;
		say_time(limit_names[which], text, error, size);
	}
	return -1;
}

/* A line */

static int read_value(struct threshold *threshold, char *error, size_t size)
{
	g_auto(GStrv) parts = g_strsplit(threshold->value, ",", -1);

	threshold->limits = LIMITS_NONE;
	threshold->none = !strcmp(threshold->value, "none");
	if (!*threshold->value) {
		snprintf(error, size, "there is no limit behind `=`: write a time, such as 20ms, or `none`");
		return -1;
	}
	for (char **part = parts; *part && !threshold->none; part++) {
		if (!*g_strstrip(*part)) {
			snprintf(error, size, "a comma has no limit before or after it");
			return -1;
		}
		if (read_limit(&threshold->limits, *part, error, size) != 0)
			return -1;
	}
	return 0;
}

static int read_pattern(struct threshold *threshold, char *error, size_t size)
{
	const char *slash = strchr(threshold->pattern, '/');
	g_autofree char *service =
		slash ? g_strndup(threshold->pattern, (gsize)(slash - threshold->pattern)) : g_strdup("*");
	g_autofree char *span = g_strdup(slash ? slash + 1 : "*");

	/* "osd.0 / write", too: no glob matches blanks that nobody sees */
	g_strstrip(service);
	g_strstrip(span);
	threshold->service = g_pattern_spec_new(service);
	threshold->span = g_pattern_spec_new(span);
	if (slash && *service && *span)
		return 0;
	snprintf(error, size,
		"`%.64s` names no spans: write SERVICE/SPAN, where * stands for any characters and ? for one",
		threshold->pattern);
	return -1;
}

static struct threshold *find_pattern(const GPtrArray *list, const char *pattern)
{
	for (guint i = 0; i < list->len; i++) {
		struct threshold *threshold = g_ptr_array_index(list, i);

		if (!strcmp(threshold->pattern, pattern))
			return threshold;
	}
	return NULL;
}

/* What is in a later file is a later line. */
static int make_room(GPtrArray *list, const struct threshold *line, char *error, size_t size)
{
	struct threshold *same = find_pattern(list, line->pattern);

	if (same && same->origin.file == line->origin.file) {
		snprintf(error, size, "`%.64s` is already set on line %u", line->pattern, same->origin.line);
		return -1;
	}
	if (same)
		g_ptr_array_remove(list, same);
	if (list->len < THRESHOLDS_MAX)
		return 0;
	snprintf(error, size, "there can be %d thresholds at most: write some of them as one, with *",
		THRESHOLDS_MAX);
	return -1;
}

int thresholds_add(GPtrArray *list, const char *pattern, const char *value,
	const struct config_origin *origin, char *error, size_t size)
{
	struct threshold *threshold = g_new0(struct threshold, 1);

	threshold->pattern = g_strdup(pattern);
	threshold->value = g_strdup(value);
	threshold->origin = *origin;
	if (read_pattern(threshold, error, size) == 0 && read_value(threshold, error, size) == 0 &&
		make_room(list, threshold, error, size) == 0) {
		g_ptr_array_add(list, threshold);
		return 0;
	}
	threshold_free(threshold);
	return -1;
}

GPtrArray *thresholds_copy(const GPtrArray *list)
{
	GPtrArray *copy = thresholds_create();
	char error[256]; /* there is none: all were read before */

	for (guint i = 0; i < list->len; i++) {
		const struct threshold *threshold = g_ptr_array_index(list, i);

		thresholds_add(
			copy, threshold->pattern, threshold->value, &threshold->origin, error, sizeof(error));
	}
	return copy;
}

bool thresholds_equal(const GPtrArray *one, const GPtrArray *other)
{
	bool equal = one->len == other->len;

	for (guint i = 0; equal && i < one->len; i++) {
		const struct threshold *a = g_ptr_array_index(one, i), *b = g_ptr_array_index(other, i);

		equal = !strcmp(a->pattern, b->pattern) && !strcmp(a->value, b->value);
	}
	return equal;
}

/* Finding */

struct limits thresholds_find(const GPtrArray *list, const char *service, const char *span)
{
	struct limits found = LIMITS_NONE;

	for (guint i = 0; i < list->len; i++) {
		const struct threshold *threshold = g_ptr_array_index(list, i);

		if (!g_pattern_spec_match_string(threshold->service, service) ||
			!g_pattern_spec_match_string(threshold->span, span))
			continue;
		if (threshold->none)
			found = LIMITS_NONE;
		for (int k = 0; k < LIMITS; k++)
			if (threshold->limits.of[k] >= 0)
				found.of[k] = threshold->limits.of[k];
	}
	return found;
}

bool limits_any(const struct limits *limits)
{
	for (int k = 0; k < LIMITS; k++)
		if (limits->of[k] >= 0)
			return true;
	return false;
}
