/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration of what is recorded beside spans. */
#include "config/contexts.h"
#include "config/flightlist.h"
#include "config/globs.h"
#include "config/load.h"
#include "config/merge.h"
#include "config_rig.h"
#include "run.h"

#define NAMES "; it must be names of events, separated by commas, in which `*` stands for anything\n"
#define FUNCTIONS "; it must be names of functions of the kernel, separated by commas\n"
#define SPANS                                                                                                \
	", too, and these are recorded anyway: name the providers of the events, as `PROVIDER:*`, in "       \
	"[events]\n"

START_TEST(mistakes)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"[events]\nnames = a:*,, b:*\n", "test: F:2: `names = a:*,, b:*` has an empty name" NAMES},
		{"[events]\nnames = a:?\n", "test: F:2: `names = a:?` has a wildcard that LTTng does not "
					    "know: its only one is `*`" NAMES},
		{"[kernel]\nevents = sched switch\n",
			"test: F:2: `events = sched switch` has a character that no event's name has" NAMES},
		{"[kernel]\nsyscalls = read, write, read\n",
			"test: F:2: `syscalls = read, write, read` has a name twice" NAMES},
		{"[kernel]\nfunctions = filemap_*\n",
			"test: F:2: `functions = filemap_*` has a `*`, though each function is named by "
			"itself" FUNCTIONS},
		{"[kernel]\nfunctions = do_swap_page, x-y\n",
			"test: F:2: `functions = do_swap_page, x-y` has a character that no function's name "
			"has" FUNCTIONS},
		{"[kernel]\nfunctions = a, a\n", "test: F:2: `functions = a, a` has a name twice" FUNCTIONS},
		{"[events]\nnames = *\n",
			"test: F:2: `names` has `*`, which stands for spans (blkin:*)" SPANS},
		{"[events]\nnames = a:*, bl*\n",
			"test: F:2: `names` has `bl*`, which stands for spans (blkin:*)" SPANS},
		{"[events]\nnames = zipkin:timestamp\n",
			"test: F:2: `names` has `zipkin:timestamp`, which stands for spans (zipkin:*)" SPANS},
		{"[events]\nlevel = loud\n",
			"test: F:2: `level = loud` is not valid: it must be emerg, alert, crit, "
			"err, warning, notice, info or debug\n"},
		{"[events]\ncontext = vpid, perf:cycels\n",
			"test: F:2: `context = vpid, perf:cycels` has `perf:cycels`, which is no context of "
			"programs: there are vpid, vtid, procname, pthread_id, ip, vuid, vgid, pid_ns, "
			"net_ns, mnt_ns, cgroup_ns, and perf:COUNTER; did you mean `perf:cycles`?\n"},
		{"[events]\ncontext = perf:cycles, perf:cpu-cycles\n",
			"test: F:2: `context = perf:cycles, perf:cpu-cycles` has `perf:cpu-cycles` twice, or "
			"more than "
			"16 contexts\n"},
		{"[events]\nspans = a:b_enter, a:b_exit by vtid\n",
			"test: F:2: `spans = a:b_enter, a:b_exit by vtid` is wrong at `a:b_enter`: it must "
			"have "
			"the form ENTER/EXIT by vtid, as myserver:*_enter/*_exit by vtid\n"},
		{"[events]\nspans = *:b/*:c by vtid\n",
			"test: F:2: `spans` has `*:b`, which stands for events that spans are made of anyway "
			"(blkin:*, zipkin:*): name another provider's, as `myserver:*_enter`, in [events]\n"},
		{"[events]\nspans = blkin:*_enter/*_exit by vtid\n",
			"test: F:2: `spans` has `blkin:*_enter`, which stands for events that spans are made "
			"of anyway (blkin:*, zipkin:*): name another provider's, as `myserver:*_enter`, in "
			"[events]\n"},
		{"[events]\nspans = a:b/c by vtid,\n",
			"test: F:2: `spans = a:b/c by vtid,` has a comma without a pair on each side: all "
			"pairs "
			"stand on one line\n"},
		{"[kernel]\nnames = a\n",
			"test: F:2: unknown key `names` in [kernel]; it belongs in [events]\n"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		assert_refused(cases[i].text, cases[i].message);
}
END_TEST

START_TEST(values)
{
	struct contexts contexts;
	char error[512];

	ck_assert_int_eq(globs_check("a:*, lttng_ust_libc:malloc,b*c:d", error, sizeof(error)), 0);
	ck_assert_ptr_null(globs_reaching("a:*, lttng_ust_libc:malloc, blkio:*, blkin2:*", "blkin:"));
	ck_assert_ptr_null(globs_reaching("", "blkin:"));
	ck_assert_int_eq(contexts_parse(&contexts, " vtid,perf:page-faults ", error, sizeof(error)), 0);
	ck_assert_uint_eq(contexts.count, 2);
	ck_assert_int_eq(contexts.of[0].kind, CONTEXT_VTID);
	ck_assert_int_eq(contexts.of[1].kind, CONTEXT_PERF);
	ck_assert_uint_eq(contexts.of[1].config, 2);
	ck_assert_int_eq(contexts_parse(&contexts, "", error, sizeof(error)), 0);
	ck_assert_uint_eq(contexts.count, 0);
}
END_TEST

/* Another reader takes them over; no restart is needed. */
START_TEST(reload)
{
	struct config one, other;

	config_init(&one);
	config_init(&other);
	ck_assert_uint_eq(config_changes(&one, &other), 0);
	g_free(other.event_names);
	other.event_names = g_strdup("a:*");
	other.origins[config_key_find("events", "names") - config_keys].file = "F";
	ck_assert_uint_eq(config_changes(&one, &other), CONFIG_CHANGES_SESSION);
	config_free(&one);
	config_free(&other);
}
END_TEST

static void check_kernel(const char *text, const char *events, const char *syscalls, const char *functions)
{
	struct config config;

	ck_assert_int_eq(read_text(&config, text), 0);
	ck_assert_str_eq(config.kernel_events, events);
	ck_assert_str_eq(config.kernel_syscalls, syscalls);
	ck_assert_str_eq(config.kernel_functions, functions);
	config_free(&config);
}

/* The flight recorder has a list of its own where nothing is named. */
START_TEST(flight)
{
	check_kernel("[kernel]\nmode = live\n", "", "", "");
	check_kernel("[kernel]\nmode = flight\n", FLIGHT_EVENTS, FLIGHT_SYSCALLS, FLIGHT_FUNCTIONS);
	check_kernel("[kernel]\nmode = flight\nsyscalls = futex\n", "", "futex", "");
	check_kernel("[kernel]\nmode = flight\nfunctions = do_swap_page\n", "", "", "do_swap_page");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	log_init("test");
	tcase_add_checked_fixture(cases, make_folder, remove_folder);

	tcase_add_test(cases, mistakes);
	tcase_add_test(cases, values);
	tcase_add_test(cases, reload);
	tcase_add_test(cases, flight);
	return run_cases("config_events", cases);
}
