/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/pairrules.h"

#include <stdio.h>
#include <string.h>

#include "base/siphash.h"

/* Reading the key */

/* Blanks around and between the words do not matter; g_strfreev is due. */
static char **words_of(const char *text)
{
	g_auto(GStrv) list = g_strsplit_set(text, " \t", -1);
	GPtrArray *words = g_ptr_array_new();

	for (char **word = list; *word; word++)
		if (**word)
			g_ptr_array_add(words, g_strdup(*word));
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_free(words, FALSE);
}

static unsigned count_stars(const char *name)
{
	unsigned count = 0;

	for (; *name; name++)
		count += *name == '*';
	return count;
}

/* The names of both events, of which the second one needs no provider. */
static const char *split_names(struct pair_rule *rule, const char *names)
{
	const char *slash = strchr(names, '/'), *colon = strchr(names, ':');
	g_autofree char *enter = NULL, *exit = NULL;

	if (!slash || slash == names || !slash[1] || strchr(slash + 1, '/'))
		return "two names with a / between them";
	enter = g_strndup(names, (gsize)(slash - names));
	exit = colon && colon < slash && !strchr(slash, ':')
		       ? g_strdup_printf("%.*s:%s", (int)(colon - names), names, slash + 1)
		       : g_strdup(slash + 1);
	if (strlen(enter) >= GLOB_SIZE || strlen(exit) >= GLOB_SIZE)
		return "names of up to 255 characters";
	g_strlcpy(rule->enter, enter, sizeof(rule->enter));
	g_strlcpy(rule->exit, exit, sizeof(rule->exit));
	return NULL;
}

static const char *check_names(const struct pair_rule *rule)
{
	const unsigned stars = count_stars(rule->enter);
	const bool enters = strchr(rule->enter, ':') != NULL, exits = strchr(rule->exit, ':') != NULL;
	char error[256];

	if (globs_check(rule->enter, error, sizeof(error)) != 0 ||
		globs_check(rule->exit, error, sizeof(error)) != 0)
		return "names of events, in which `*` is the only wildcard";
	if (stars > 1 || stars != count_stars(rule->exit))
		return "one `*` in both names, or none in either";
	if (!strcmp(rule->enter, rule->exit))
		return "two names that differ";
	if (!rule->kernel && (!enters || !exits))
		return "PROVIDER:NAME, or `by tid` for events of the kernel";
	if (rule->kernel && (enters || exits))
		return "names without a provider, or `by vtid` for events of programs";
	return NULL;
}

/* Returns what it should have, or NULL. */
static const char *parse_rule(struct pair_rule *rule, const char *text)
{
	g_auto(GStrv) words = words_of(text);
	const char *wrong;

	if (g_strv_length(words) != 3 || strcmp(words[1], "by") != 0)
		return "the form ENTER/EXIT by vtid, as myserver:*_enter/*_exit by vtid";
	if (strcmp(words[2], "vtid") != 0 && strcmp(words[2], "tid") != 0)
		return "`by vtid`, for events of programs, or `by tid`, for those of the kernel";
	rule->kernel = !strcmp(words[2], "tid");
	wrong = split_names(rule, words[0]);
	return wrong ? wrong : check_names(rule);
}

static bool is_there(const struct pair_rules *rules, const struct pair_rule *rule)
{
	for (size_t i = 0; i < rules->count; i++)
		if (!strcmp(rules->of[i].enter, rule->enter) && !strcmp(rules->of[i].exit, rule->exit))
			return true;
	return false;
}

int pair_rules_parse(struct pair_rules *rules, const char *text, char *error, size_t size)
{
	g_auto(GStrv) list = globs_split(text);

	rules->count = 0;
	if (!list[0] || (!*list[0] && !list[1]))
		return 0;
	for (char **each = list; *each; each++) {
		struct pair_rule rule = {0};
		const char *wrong;

		if (!**each) {
			snprintf(error, size,
				"has a comma without a pair on each side: all pairs stand on one line");
			return -1;
		}
		wrong = parse_rule(&rule, *each);
		if (!wrong && is_there(rules, &rule))
			wrong = "each pair once";
		if (!wrong && rules->count == PAIR_RULES_MAX)
			wrong = "32 pairs at most";
		if (wrong) {
			snprintf(error, size, "is wrong at `%.100s`: it must have %s", *each, wrong);
			return -1;
		}
		rules->of[rules->count++] = rule;
	}
	return 0;
}

bool pair_rules_have(const struct pair_rules *rules, bool kernel)
{
	for (size_t i = 0; i < rules->count; i++)
		if (rules->of[i].kernel == kernel)
			return true;
	return false;
}

/* Matching */

/* Whether @name is as @pattern has it; @text is then what its `*` stands for, the caller's, or "". */
static bool match(const char *pattern, const char *name, char **text)
{
	const char *star = strchr(pattern, '*');
	size_t before = star ? (size_t)(star - pattern) : strlen(pattern),
	       after = star ? strlen(star + 1) : 0;
	size_t size = strlen(name);

	if (!star && strcmp(pattern, name) != 0)
		return false;
	if (size < before + after || strncmp(pattern, name, before) != 0 ||
		(star && strcmp(star + 1, name + size - after) != 0))
		return false;
	*text = g_strndup(name + before, size - before - after);
	return true;
}

static char *fill(const char *pattern, const char *text)
{
	const char *star = strchr(pattern, '*');

	return star ? g_strdup_printf("%.*s%s%s", (int)(star - pattern), pattern, text, star + 1)
		    : g_strdup(pattern);
}

static void put_words(GString *name, char **from, char **to)
{
	for (; from < to; from++)
		g_string_append_printf(name, "%s%s", name->len ? "_" : "", *from);
}

/* What both have in common before and behind what differs, by words with `_` between them. If that is
 * nothing, it is the first one. */
static char *common_words(const char *enter, const char *exit)
{
	g_auto(GStrv) one = g_strsplit(enter, "_", -1), other = g_strsplit(exit, "_", -1);
	size_t ones = g_strv_length(one), others = g_strv_length(other), before = 0, after = 0;
	GString *name = g_string_new(NULL);

	while (before < MIN(ones, others) && !strcmp(one[before], other[before]))
		before++;
	while (after < MIN(ones, others) - before &&
		!strcmp(one[ones - 1 - after], other[others - 1 - after]))
		after++;
	put_words(name, one, one + before);
	put_words(name, one + ones - after, one + ones);
	if (!name->len)
		g_string_assign(name, enter);
	return g_string_free(name, FALSE);
}

static char *span_name(const char *enter, const char *exit)
{
	const char *colon = strchr(enter, ':'), *other = strchr(exit, ':');
	g_autofree char *common = common_words(colon ? colon + 1 : enter, other ? other + 1 : exit);

	return colon ? g_strdup_printf("%.*s:%s", (int)(colon - enter), enter, common) : g_strdup(common);
}

uint64_t pair_name_number(const char *name)
{
	static const uint8_t key[SIPHASH_KEY_SIZE];

	return siphash(key, name, strlen(name));
}

static void half_free(void *data)
{
	struct pair_half *half = data;

	g_free(half->exit);
	g_free(half->pair);
	g_free(half->name);
	g_free(half);
}

static void add_enter(GPtrArray *halves, const struct pair_rule *rule, const char *text)
{
	g_autofree char *enter = fill(rule->enter, text);
	struct pair_half *half = g_new0(struct pair_half, 1);

	half->exit = fill(rule->exit, text);
	half->pair = g_strdup_printf("%s/%s", enter, half->exit);
	half->name = span_name(enter, half->exit);
	half->number = pair_name_number(half->exit);
	half->pair_number = pair_name_number(half->pair);
	g_ptr_array_add(halves, half);
}

static void add_exit(GPtrArray *halves, const char *name)
{
	struct pair_half *half = g_new0(struct pair_half, 1);

	half->exits = true;
	half->exit = g_strdup(name);
	half->number = pair_name_number(name);
	g_ptr_array_add(halves, half);
}

static bool ends(const struct pair_rule *rule, const char *name)
{
	g_autofree char *text = NULL;

	return match(rule->exit, name, &text);
}

/* A name that `*` of ENTER fits, too, is EXIT's. */
static void add_enters(
	GPtrArray *halves, const struct pair_rules *rules, const char *name, bool kernel, bool stars)
{
	for (size_t i = 0; i < rules->count; i++) {
		const struct pair_rule *rule = &rules->of[i];
		g_autofree char *text = NULL;

		if (rule->kernel == kernel && stars == (strchr(rule->enter, '*') != NULL) &&
			match(rule->enter, name, &text) && !ends(rule, name))
			add_enter(halves, rule, text);
	}
}

GPtrArray *pair_rules_match(const struct pair_rules *rules, const char *name, bool kernel)
{
	GPtrArray *halves = g_ptr_array_new_with_free_func(half_free);
	guint exits;

	for (size_t i = 0; i < rules->count && !halves->len; i++)
		if (rules->of[i].kernel == kernel && ends(&rules->of[i], name))
			add_exit(halves, name);
	exits = halves->len;
	add_enters(halves, rules, name, kernel, false);
	if (halves->len == exits)
		add_enters(halves, rules, name, kernel, true);
	if (!halves->len)
		g_clear_pointer(&halves, g_ptr_array_unref);
	return halves;
}
