/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules that [kernel] becomes, and the names that the kernel does not have. */
#include <check.h>
#include <string.h>
#include <unistd.h>

#include "session/kernelnames.h"
#include "session/kernelrules.h"
#include "session/rules.h"

#include "run.h"

static const char *const names[] = {"sched_switch", "sched_waking", "block_bio_queue", "block_rq_issue",
	"irq_handler_entry", "sched_stat_runtime"};

static GPtrArray *kernel_names(void)
{
	GPtrArray *list = g_ptr_array_new();

	for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
		g_ptr_array_add(list, (char *)(uintptr_t)names[i]);
	return list;
}

/* The rules as text: those with a filter have the first word of it. */
static char *rules_of(const char *events, const char *syscalls, bool own, bool flight)
{
	const struct config config = {.kernel_events = (char *)(uintptr_t)events,
		.kernel_syscalls = (char *)(uintptr_t)syscalls,
		.kernel_functions = (char *)(uintptr_t) "",
		.kernel_own = own,
		.kernel_mode = flight ? CONFIG_KERNEL_FLIGHT : CONFIG_KERNEL_LIVE};
	g_autoptr(GPtrArray) list = kernel_names(), rules = kernelrules_list(&config, list);
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < rules->len; i++) {
		const struct rule *rule = rules->pdata[i];

		ck_assert(rule->enabled);
		g_string_append_printf(text, "%s%s%s%.*s", i ? ", " : "",
			rule->type == LTTNG_EVENT_SYSCALL ? "syscall " : "", rule->name,
			(int)strcspn(rule->filter, "!"), rule->filter);
	}
	return g_string_free(text, FALSE);
}

static void check_rules(const char *events, const char *syscalls, bool own, const char *expected)
{
	g_autofree char *rules = rules_of(events, syscalls, own, false);

	ck_assert_str_eq(rules, expected);
}

/* Everything is recorded as it was asked for. */
START_TEST(own)
{
	check_rules("", "", true, "");
	check_rules("sched_*, block_rq_issue, sched_*", "*", true, "sched_*, block_rq_issue, syscall *");
}
END_TEST

/* Nobody reads what the flight recorder has, and filters would cost programs much. */
START_TEST(flight)
{
	g_autofree char *rules = rules_of("sched_*, block_rq_issue", "*", false, true);

	ck_assert_str_eq(rules, "sched_*, block_rq_issue, syscall *");
}
END_TEST

/* Of a kind of their own, and without a filter, which LTTng does not take for them. */
START_TEST(functions)
{
	const struct config config = {.kernel_events = (char *)(uintptr_t) "sched_switch",
		.kernel_syscalls = (char *)(uintptr_t) "",
		.kernel_functions = (char *)(uintptr_t) "filemap_fault, do_swap_page"};
	g_autoptr(GPtrArray) list = kernel_names(), rules = kernelrules_list(&config, list);

	ck_assert_uint_eq(rules->len, 3);
	for (guint i = 1; i < rules->len; i++) {
		const struct rule *rule = rules->pdata[i];

		ck_assert_str_eq(rule->name, i == 1 ? "filemap_fault" : "do_swap_page");
		ck_assert_int_eq(rule->type, LTTNG_EVENT_FUNCTION);
		ck_assert_str_eq(rule->filter, "");
	}
}
END_TEST

/* A filter only where an event is about one thread; so patterns that reach both kinds become names. */
START_TEST(not_own)
{
	check_rules("sched_switch", "openat", false, "sched_switch(prev_tid , syscall openat$ctx.procname ");
	check_rules("irq_*, block_rq_*, unknown", "", false, "irq_*, block_rq_issue, unknown");
	check_rules("irq_*, sched_*, sched_sw*, *_waking", "", false,
		"irq_*, sched_switch(prev_tid , sched_wakingcomm , sched_stat_runtime");
	check_rules("block_bio_queue", "", false, "block_bio_queue$ctx.procname ");
}
END_TEST

/* Of several rules with one name it is the one that is alike, and the first of those. */
START_TEST(found)
{
	g_autoptr(GPtrArray) there = rules_create(), asked = rules_create();
	struct rule *first = rules_add(there, "a", LTTNG_EVENT_TRACEPOINT, ""),
		    *second = rules_add(there, "a", LTTNG_EVENT_TRACEPOINT, "filter"),
		    *rule = rules_add(asked, "a", LTTNG_EVENT_TRACEPOINT, "filter");
	g_autoptr(GHashTable) index = NULL;

	rules_add(there, "a", LTTNG_EVENT_TRACEPOINT, "filter")->enabled = false;
	index = rules_index(there);
	ck_assert_ptr_eq(g_hash_table_lookup(index, rule), second);
	ck_assert_ptr_eq(g_hash_table_lookup(index, first), first);
	rule->type = LTTNG_EVENT_SYSCALL;
	ck_assert_ptr_null(g_hash_table_lookup(index, rule));
}
END_TEST

static void check_unknown(const char *globs, size_t count, const char *first)
{
	g_autoptr(GPtrArray) list = kernel_names(), said = kernelnames_unknown(list, globs);

	ck_assert_uint_eq(said->len, count);
	if (first)
		ck_assert_msg(strstr(said->pdata[0], first), "%s", (char *)said->pdata[0]);
}

START_TEST(unknown)
{
	g_autoptr(GPtrArray) nothing = kernelnames_unknown(NULL, "sched_swich");

	ck_assert_uint_eq(nothing->len, 0); /* nobody was there to be asked */
	check_unknown("", 0, NULL);
	check_unknown("*, sched_*, block_rq_issue", 0, NULL);
	check_unknown("sched_swich, *, nothing", 2, "`sched_swich` of [kernel] records nothing");
	check_unknown("sched_swich", 1, "; is `sched_switch` meant?");
	check_unknown("block_rg_*", 1, "; is `block_rq_*` meant?");
	check_unknown("*_nothing", 1, "has nothing of that name");
}
END_TEST

START_TEST(kernels_functions)
{
	g_autofree char *path = g_build_filename(g_get_tmp_dir(), "blkin-kallsyms-XXXXXX", NULL);
	int fd = g_mkstemp(path);
	g_autoptr(GPtrArray) list = NULL, none = kernelnames_functions("/nonexistent/kallsyms"), said = NULL;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(close(fd), 0);
	ck_assert(g_file_set_contents(path,
		"0000000000000000 T do_swap_page\n0000000000000000 t filemap_fault\t[ext4]\n"
		"0000000000000000 D jiffies\n0000000000000000 W a_weak_one\nno line\n0000000000000000 T last",
		-1, NULL));
	list = kernelnames_functions(path);
	ck_assert_ptr_null(none);
	ck_assert_uint_eq(list->len, 4);
	said = kernelnames_unknown(list, "filemap_fault, a_weak_one, last, jiffies, do_swap_pag");
	ck_assert_uint_eq(said->len, 2);
	ck_assert_msg(strstr(said->pdata[0], "`jiffies` of [kernel] records nothing"), "%s",
		(char *)said->pdata[0]);
	ck_assert_msg(strstr(said->pdata[1], "is `do_swap_page` meant?"), "%s", (char *)said->pdata[1]);
	ck_assert_int_eq(unlink(path), 0);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_add_test(cases, own);
	tcase_add_test(cases, flight);
	tcase_add_test(cases, functions);
	tcase_add_test(cases, not_own);
	tcase_add_test(cases, found);
	tcase_add_test(cases, unknown);
	tcase_add_test(cases, kernels_functions);
	return run_cases("kernelrules", cases);
}
