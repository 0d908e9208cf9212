/* SPDX-License-Identifier: BSD-2-Clause */
/* The ledger's rows: that each says all that a checkpoint, the metrics and the status need, and none says
 * what another does. */
#include <check.h>
#include <string.h>

#include <glib.h>

#include "core/rows.h"

#include "run.h"

#define ALL (LEDGER_ROWS + ACCOUNT_ROWS)

/* Both lists as one. */
static const struct row_info *row_of(size_t i)
{
	return i < LEDGER_ROWS ? &ledger_rows[i] : &account_rows[i - LEDGER_ROWS];
}

START_TEST(each_is_complete)
{
	for (size_t i = 0; i < ALL; i++) {
		const struct row_info *row = row_of(i);

		ck_assert_msg(row->name && *row->name, "row %zu has no name", i);
		ck_assert_msg(row->json && *row->json, "%s has no JSON", row->name);
		ck_assert_msg(row->metric && g_str_has_prefix(row->metric, "blkin_agent_"),
			"%s has no metric", row->name);
		ck_assert_msg(!strchr(row->name, '.'), "%s: the dot ends an output's name", row->name);
	}
}
END_TEST

static void add_once(GHashTable *seen, const char *what)
{
	ck_assert_msg(g_hash_table_add(seen, g_strdup(what)), "there are two of `%s`", what);
}

/* The rows of the first output are in a checkpoint without its name: so no two of all are the same. */
START_TEST(names_are_unique)
{
	g_autoptr(GHashTable) names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autoptr(GHashTable) metrics = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (size_t i = 0; i < ALL; i++) {
		const struct row_info *row = row_of(i);
		g_autofree char *metric =
			g_strdup_printf("%s{%s}", row->metric, row->label ? row->label : "");

		add_once(names, row->name);
		add_once(metrics, metric);
	}
}
END_TEST

/* Members of one object: none twice, and none both a number and an object. */
static void assert_json(const struct row_info *rows, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t n = 0; n < count; n++) {
			g_autofree char *inside = g_strconcat(rows[n].json, ".", NULL);

			ck_assert_msg(i == n || strcmp(rows[i].json, rows[n].json) != 0, "two of `%s`",
				rows[i].json);
			ck_assert_msg(!g_str_has_prefix(rows[i].json, inside), "`%s` is in `%s`",
				rows[i].json, rows[n].json);
		}
}

/* Members of an object stand together, or it would be written twice. */
static void assert_objects_together(const struct row_info *rows, size_t count)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	g_autofree char *last = NULL;

	for (size_t i = 0; i < count; i++) {
		const char *dot = strrchr(rows[i].json, '.');
		char *object = g_strndup(rows[i].json, dot ? (size_t)(dot - rows[i].json) : 0);

		if (dot && g_strcmp0(object, last) != 0)
			add_once(seen, object);
		g_free(last);
		last = object;
	}
}

START_TEST(json_fits_together)
{
	assert_json(ledger_rows, LEDGER_ROWS);
	assert_json(account_rows, ACCOUNT_ROWS);
	assert_objects_together(account_rows, ACCOUNT_ROWS);
}
END_TEST

/* The first row, of all, that has this metric. */
static size_t first_of(const char *metric)
{
	size_t i = 0;

	while (strcmp(row_of(i)->metric, metric) != 0)
		i++;
	return i;
}

/* In one list. */
static void assert_metrics_together(const struct row_info *rows, size_t count)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (size_t i = 0; i < count; i++)
		if (i == 0 || strcmp(rows[i].metric, rows[i - 1].metric) != 0)
			add_once(seen, rows[i].metric);
}

/* One name of a label, one type, and one help, in its first row. */
START_TEST(metrics_are_consistent)
{
	assert_metrics_together(ledger_rows, LEDGER_ROWS);
	assert_metrics_together(account_rows, ACCOUNT_ROWS);
	for (size_t i = 0; i < ALL; i++) {
		const struct row_info *row = row_of(i), *first = row_of(first_of(row->metric));
		size_t label = row->label ? strcspn(row->label, "=") : 0;

		ck_assert_msg(!row->help == (row != first), "%s: the help is the first row's", row->name);
		ck_assert_msg(row->gauge == first->gauge, "%s is of another type", row->name);
		ck_assert_msg(!row->label == !first->label, "%s: all have a label, or none", row->name);
		ck_assert_msg(!row->label || strncmp(row->label, first->label, label + 2) == 0,
			"%s has another label", row->name);
		ck_assert_msg(
			!row->label || (row->label[label + 1] == '"' && g_str_has_suffix(row->label, "\"")),
			"%s: the label's value has no quotes", row->name);
		ck_assert_msg(g_str_has_suffix(row->metric, "_total") == !row->gauge,
			"%s: a counter, and only that, ends in _total", row->metric);
		ck_assert_msg(!row->help || g_str_has_suffix(row->help, "."), "%s: no sentence", row->metric);
	}
}
END_TEST

/* Everything dropped, rejected or lost is shown as a loss, and nothing else. */
START_TEST(losses_are_told)
{
	for (size_t i = 0; i < ALL; i++) {
		const struct row_info *row = row_of(i);
		bool loss = strstr(row->name, "dropped") || strstr(row->name, "lost") ||
			    strstr(row->name, "rejected") || g_str_has_prefix(row->name, "messages_refused");

		ck_assert_msg(loss == (row->lost != NULL), "%s: is it a loss?", row->name);
		ck_assert_msg(!loss || !row->gauge, "%s: a loss stays", row->name);
	}
}
END_TEST

START_TEST(found_by_name)
{
	for (size_t i = 0; i < LEDGER_ROWS; i++)
		ck_assert_uint_eq(row_find(ledger_rows, LEDGER_ROWS, ledger_rows[i].name), i);
	for (size_t i = 0; i < ACCOUNT_ROWS; i++)
		ck_assert_uint_eq(row_find(account_rows, ACCOUNT_ROWS, account_rows[i].name), i);
	ck_assert_uint_eq(row_find(ledger_rows, LEDGER_ROWS, "spans_sent"), LEDGER_ROWS);
	ck_assert_uint_eq(row_find(account_rows, ACCOUNT_ROWS, ""), ACCOUNT_ROWS);
}
END_TEST

/* In checkpoints of agents that were there before. */
START_TEST(names_stay)
{
	static const char *const node[] = {"events_read", "events_lost_ring", "packets_lost",
		"events_in_spans", "events_as_json", "events_rejected_malformed", "events_rejected_id",
		"events_rejected_time", "events_ignored", "events_read_again", "spans_made", "spans_pending",
		"spans_cut_short", "strings_repaired", "sessions_created", "sessions_lost", "sessions_mended",
		"clock_steps"};
	static const char *const output[] = {"spans_recovered", "spans_queued", "spans_spooled", "spans_sent",
		"spans_dropped_queue_full", "spans_dropped_refused", "spans_dropped_oversize",
		"spans_dropped_spool_full", "spans_dropped_spool_corrupt", "spans_dropped_shutdown",
		"spans_sent_again", "output_errors_connect", "output_errors_tls", "output_errors_timeout",
		"output_errors_protocol", "output_errors_closed", "output_errors_try_later",
		"output_errors_refused"};

	for (size_t i = 0; i < G_N_ELEMENTS(node); i++)
		ck_assert_msg(row_find(ledger_rows, LEDGER_ROWS, node[i]) < LEDGER_ROWS, "%s", node[i]);
	for (size_t i = 0; i < G_N_ELEMENTS(output); i++)
		ck_assert_msg(
			row_find(account_rows, ACCOUNT_ROWS, output[i]) < ACCOUNT_ROWS, "%s", output[i]);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("rows");

	tcase_add_test(tests, each_is_complete);
	tcase_add_test(tests, names_are_unique);
	tcase_add_test(tests, json_fits_together);
	tcase_add_test(tests, metrics_are_consistent);
	tcase_add_test(tests, losses_are_told);
	tcase_add_test(tests, found_by_name);
	tcase_add_test(tests, names_stay);
	return run_cases("rows", tests);
}
