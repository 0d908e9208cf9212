/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/view.h"

#include <math.h>
#include <string.h>

#include "status/html.h"

#define FILTER_MAX 200

const char *const view_keys[VIEW_KEYS] = {
	"state", "service", "span", "rate", "mean", "p50", "p99", "max", "errors"};

static const char *const windows[] = {
	[WINDOW_1] = "1", [WINDOW_10] = "10", [WINDOW_60] = "60", [WINDOW_ALL] = "all"};

/* The address */

static int find_word(const char *const *words, int count, const char *word)
{
	for (int i = 0; word && i < count; i++)
		if (!strcmp(words[i], word))
			return i;
	return -1;
}

static GHashTable *parse(const char *query)
{
	GHashTable *parameters =
		query ? g_uri_parse_params(query, -1, "&", G_URI_PARAMS_WWW_FORM, NULL) : NULL;

	return parameters ? parameters : g_hash_table_new(g_str_hash, g_str_equal);
}

static bool read_window(GHashTable *parameters, unsigned *window)
{
	const char *minutes = g_hash_table_lookup(parameters, "minutes");
	int found = find_word(windows, G_N_ELEMENTS(windows), minutes);

	if (found >= 0)
		*window = (unsigned)found;
	return found >= 0 || !minutes;
}

bool view_window(const char *query, unsigned *window)
{
	g_autoptr(GHashTable) parameters = parse(query);

	return read_window(parameters, window);
}

const char *view_window_name(unsigned window)
{
	return windows[window];
}

void view_read(struct view *view, const char *query, unsigned window)
{
	g_autoptr(GHashTable) parameters = parse(query);
	const char *rows = g_hash_table_lookup(parameters, "rows"),
		   *filter = g_hash_table_lookup(parameters, "filter");
	int key = find_word(view_keys, VIEW_KEYS, g_hash_table_lookup(parameters, "sort"));
	guint64 number = VIEW_ROWS;

	*view = (struct view){.window = window, .key = key < 0 ? VIEW_STATE : (enum view_key)key};
	read_window(parameters, &view->window);
	view->reverse = g_hash_table_contains(parameters, "reverse");
	if (rows && !g_ascii_string_to_unsigned(rows, 10, 1, STATISTICS_SERIES_MAX + 1, &number, NULL))
		number = VIEW_ROWS;
	view->rows = (uint32_t)number;
	view->filter = g_utf8_substring(
		filter ? filter : "", 0, filter ? MIN(g_utf8_strlen(filter, -1), FILTER_MAX) : 0);
	view->service = g_strdup(g_hash_table_lookup(parameters, "service"));
	view->span = g_strdup(g_hash_table_lookup(parameters, "span"));
}

void view_clear(struct view *view)
{
	g_free(view->filter);
	g_free(view->service);
	g_free(view->span);
}

static void put_text(struct buffer *out, const char *key, const char *text)
{
	buffer_printf(out, "&amp;%s=", key);
	html_query(out, text);
}

void view_put(struct buffer *out, const struct view *view)
{
	buffer_printf(out, "?minutes=%s", windows[view->window]);
	if (view->key != VIEW_STATE)
		buffer_printf(out, "&amp;sort=%s", view_keys[view->key]);
	if (view->reverse)
		html_put(out, "&amp;reverse=1");
	if (view->rows != VIEW_ROWS)
		buffer_printf(out, "&amp;rows=%u", view->rows);
	if (*view->filter)
		put_text(out, "filter", view->filter);
	if (view->service && view->span) {
		put_text(out, "service", view->service);
		put_text(out, "span", view->span);
	}
}

/* The rows */

static bool has_words(char **words, const struct series *series)
{
	g_autofree char *all =
		g_strconcat(series->service ? series->service : "other", " ", series->name, NULL);
	g_autofree char *text = g_utf8_casefold(all, -1);

	for (; *words; words++)
		if (!strstr(text, *words))
			return false;
	return true;
}

/* What is not known comes last. */
static double value_of(const struct view_row *row, enum view_key key)
{
	const struct figures *is = &row->figures;
	const double values[VIEW_KEYS] = {
		[VIEW_STATE] = is->share,
		[VIEW_RATE] = is->rate,
		[VIEW_MEAN] = is->mean,
		[VIEW_P50] = is->p50,
		[VIEW_P99] = is->p99,
		[VIEW_MAX] = is->max,
		[VIEW_ERRORS] = (double)is->errors,
	};

	return isnan(values[key]) ? -1 : values[key];
}

static int compare_names(const struct view_row *a, const struct view_row *b, bool by_span)
{
	int service = g_strcmp0(a->service, b->service), span = g_strcmp0(a->span, b->span);

	if (by_span)
		return span ? span : service;
	return service ? service : span;
}

/* The largest first, but names from the first letter on; what is equal by name, so that rows stay in place.
 */
static int compare(const void *one, const void *other, void *data)
{
	const struct view *view = data;
	const struct view_row *a = one, *b = other;
	double left = value_of(a, view->key), right = value_of(b, view->key);
	int order = (left < right) - (left > right);

	if (view->key == VIEW_SERVICE || view->key == VIEW_SPAN)
		order = compare_names(a, b, view->key == VIEW_SPAN);
	if (view->key == VIEW_STATE && !a->exceeded != !b->exceeded)
		order = a->exceeded ? -1 : 1;
	if (view->reverse)
		order = -order;
	return order ? order : compare_names(a, b, false);
}

static void add(
	GArray *rows, struct monitor *monitor, uint32_t number, const struct series *series, int64_t age)
{
	struct view_row row = {.number = number, .service = series->service, .span = series->name};

	figures_of_series(&row.figures, series, age, 0);
	row.figures.share = (double)series->sum; /* of the time of all, in the end */
	row.limited = monitor_limits(monitor, number) != NULL;
	row.exceeded = monitor_exceeded(monitor, number, &row.figures);
	g_array_append_val(rows, row);
}

GArray *view_select(const struct view *view, struct monitor *monitor, uint32_t *total)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(struct view_row));
	g_autofree char *folded = g_utf8_casefold(view->filter, -1);
	g_auto(GStrv) words = g_strsplit(folded, " ", -1);
	int64_t age = monitor_age(monitor, view->window);
	uint32_t count = monitor_count(monitor);
	double all = 0;

	*total = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct series *series = monitor_series(monitor, view->window, i);

		if (!series)
			continue;
		++*total;
		all += (double)series->sum;
		if (!*view->filter || has_words(words, series))
			add(rows, monitor, i, series, age);
	}
	for (guint i = 0; i < rows->len; i++)
		g_array_index(rows, struct view_row, i).figures.share /= all > 0 ? all : 1;
	g_array_sort_with_data(rows, compare, (void *)(uintptr_t)view);
	return rows;
}
