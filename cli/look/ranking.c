/* SPDX-License-Identifier: BSD-2-Clause */
#include "look/ranking.h"

#include <inttypes.h>
#include <math.h>
#include <pwd.h>
#include <string.h>

#include "printable.h"

#define TEXT_MAX_SHOWN 200

const char *const ranking_keys[RANKING_KEYS + 1] = {
	"share", "rate", "mean", "p50", "p99", "max", "errors", "count", "name", NULL};

static void clear_ranked(void *data)
{
	struct ranked *ranked = data;

	g_free(ranked->group);
	g_free(ranked->name);
}

/* Filtering */

static bool takes(const char *filter, const struct ranked *ranked)
{
	g_autofree char *all = g_strconcat(ranked->group, " ", ranked->name, NULL);
	g_autofree char *text = g_utf8_casefold(all, -1), *folded = g_utf8_casefold(filter, -1);
	g_auto(GStrv) words = g_strsplit(folded, " ", -1);

	for (char **word = words; *word; word++)
		if (!strstr(text, *word))
			return false;
	return true;
}

static void add(GArray *rows, const struct ranking *ranking, struct ranked *ranked)
{
	if (!*ranking->filter || takes(ranking->filter, ranked))
		g_array_append_val(rows, *ranked);
	else
		clear_ranked(ranked);
}

/* Names */

static char *shown(const char *text, const char *none)
{
	if (!text || !*text)
		return g_strdup(none);
	return printable_copy(text, strlen(text), TEXT_MAX_SHOWN);
}

/* A user may have no name, and names may be slow to look up: each is asked for once. */
static const char *name_of_user(uint32_t user)
{
	static GHashTable *known;
	char *name;

	if (!known)
		known = g_hash_table_new(NULL, NULL);
	name = g_hash_table_lookup(known, GUINT_TO_POINTER(user));
	if (!name) {
		const struct passwd *entry = getpwuid(user);

		name = entry ? shown(entry->pw_name, "") : g_strdup_printf("%" PRIu32, user);
		g_hash_table_insert(known, GUINT_TO_POINTER(user), name);
	}
	return name;
}

static char *describe_program(const struct program *program)
{
	g_autofree char *pid = program->pid ? g_strdup_printf("%" PRIu32, program->pid) : g_strdup("-");

	if (!program->name)
		return g_strdup("");
	return g_strdup_printf("%s %s", pid, program->user == UINT32_MAX ? "-" : name_of_user(program->user));
}

/* Order */

static double value_of(const struct ranked *ranked, enum ranking_key key)
{
	const struct figures *figures = &ranked->figures;
	const double values[] = {
		[RANKING_SHARE] = figures->share,
		[RANKING_RATE] = figures->rate,
		[RANKING_MEAN] = figures->mean,
		[RANKING_P50] = figures->p50,
		[RANKING_P99] = figures->p99,
		[RANKING_MAX] = figures->max,
		[RANKING_ERRORS] = (double)figures->errors,
		[RANKING_COUNT] = (double)figures->count,
	};

	return isnan(values[key]) ? -1 : values[key];
}

static int compare_names(const struct ranked *a, const struct ranked *b)
{
	int order = strcmp(a->group, b->group);

	return order ? order : strcmp(a->name, b->name);
}

/* The largest first, but names from the first letter on; what is equal by name, so that rows stay in place.
 */
static int compare(const void *one, const void *other, void *data)
{
	const struct ranking *ranking = data;
	const struct ranked *a = one, *b = other;
	int order = 0;

	if (ranking->key != RANKING_NAME) {
		double left = value_of(a, ranking->key), right = value_of(b, ranking->key);

		order = (left < right) - (left > right);
	} else {
		order = compare_names(a, b);
	}
	if (ranking->reverse)
		order = -order;
	return order ? order : compare_names(a, b);
}

GArray *ranking_make(const struct ranking *ranking, const struct snapshot *snapshot)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct ranked));
	double all = figures_time(snapshot);
	struct ranked ranked;

	g_array_set_clear_func(rows, clear_ranked);
	for (guint i = 0; !ranking->programs && i < snapshot->series->len; i++) {
		const struct series *series = &g_array_index(snapshot->series, struct series, i);

		ranked.group = series->service ? shown(series->service, "(no service)") : g_strdup("other");
		ranked.name =
			series->name ? shown(series->name, "(no name)") : g_strdup("(names without room)");
		figures_of_series(&ranked.figures, series, snapshot->age, all);
		add(rows, ranking, &ranked);
	}
	for (guint i = 0; ranking->programs && i < snapshot->programs->len; i++) {
		const struct program *program = &g_array_index(snapshot->programs, struct program, i);

		ranked.group = program->name ? shown(program->name, "(not known)") : g_strdup("earlier ones");
		ranked.name = describe_program(program);
		figures_of_program(&ranked.figures, program, snapshot->age, all);
		add(rows, ranking, &ranked);
	}
	g_array_sort_with_data(rows, compare, (void *)(uintptr_t)ranking);
	return rows;
}
