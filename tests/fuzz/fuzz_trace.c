/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Traces that are damaged or forged, through babeltrace2 and all that the product has around it: `blkin
 * import`, and the agent's recovery from lttng-relayd's files. babeltrace2 may abort, loop or refuse what it
 * gets, in a child process; the rest may not.
 *
 *     fuzz_trace CORPUS [FILE...] [-max_total_time=SECONDS] [-runs=CASES] [-seed=N] [-artifact_prefix=PATH]
 *                [-rss_limit_mb=MB]
 *
 * takes what it needs of libFuzzer's options, and ignores the others. What makes babeltrace2 say something
 * new goes into the corpus, a folder, and is harmed further. With FILEs it runs these, unharmed. They may
 * also be folders of traces.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <babeltrace2/babeltrace.h>
#include <glib.h>

#include "base/clock.h"
#include "fuzz.h"
#include "trace/batch.h"
#include "trace/mutate.h"
#include "trace/witness.h"

#define GOOD "trace-good"
#define CORPUS_MAX 600
/* No batch takes longer, however slow the machine is. */
#define HANG_SECONDS 120

struct fuzzer {
	const char *corpus_folder, *prefix;
	int64_t seconds, runs;
	uint64_t seed, state, cases;
	long rss_limit_mb;
	GPtrArray *corpus, *files; /* of trace_files */
	GHashTable *reasons;       /* that are known, without numbers */
};

static void on_alarm(int signal)
{
	static const char words[] = "a batch hangs: see what is left in /dev/shm/blkin-fuzz-*\n";

	(void)signal;
	_exit(write(STDERR_FILENO, words, sizeof(words) - 1) > 0 ? 1 : 2);
}

/* Plugins are loaded once, rather than by each child: all, as they are looked through for the right one. */
static void load_plugins(void)
{
	static const bt_plugin_set *plugins;

	fuzz_hold(bt_plugin_find_all(BT_TRUE, BT_TRUE, BT_TRUE, BT_TRUE, BT_FALSE, &plugins) ==
			  BT_PLUGIN_FIND_ALL_STATUS_OK,
		"babeltrace2 has its plugins");
}

/* The corpus */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static trace_files *load_good(const struct fuzzer *fuzzer)
{
	g_autofree char *path = g_build_filename(fuzzer->corpus_folder, GOOD, NULL);
	trace_files *good = trace_read(path);

	fuzz_hold(good != NULL, "the corpus has seeds/" GOOD);
	return good;
}

static void load_corpus(struct fuzzer *fuzzer)
{
	g_autoptr(GPtrArray) paths = g_ptr_array_new_with_free_func(g_free);
	GDir *dir = g_dir_open(fuzzer->corpus_folder, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (strcmp(name, GOOD) != 0)
			g_ptr_array_add(paths, g_build_filename(fuzzer->corpus_folder, name, NULL));
	if (dir)
		g_dir_close(dir);
	g_ptr_array_sort(paths, by_name);
	for (guint i = 0; i < paths->len; i++) {
		trace_files *trace = trace_read(paths->pdata[i]);

		if (trace && trace->len > 0)
			g_ptr_array_add(fuzzer->corpus, trace);
		else if (trace)
			g_ptr_array_unref(trace);
	}
}

/* Numbers differ from case to case, and so do names within quotes. */
static char *simplify(const char *reason)
{
	GString *simple = g_string_new(NULL);
	bool quoted = false;

	for (; *reason; reason++) {
		quoted ^= *reason == '"' || *reason == '`';
		if (!quoted && !g_ascii_isxdigit(*reason))
			g_string_append_c(simple, *reason);
	}
	return g_string_free(simple, FALSE);
}

/* Keeps a trace of which something new was said. */
static void keep(struct fuzzer *fuzzer, const trace_files *trace, const char *reason)
{
	char *simple = simplify(reason);
	g_autofree char *name = g_strdup_printf("%08x", g_str_hash(simple));
	g_autofree char *path = g_build_filename(fuzzer->corpus_folder, name, NULL);

	if (!g_hash_table_add(fuzzer->reasons, simple) || fuzzer->corpus->len >= CORPUS_MAX ||
		g_file_test(path, G_FILE_TEST_EXISTS))
		return;
	g_ptr_array_add(fuzzer->corpus, trace_copy(trace));
	trace_write(trace, path);
}

/* Cases */

static trace_files *make_case(struct fuzzer *fuzzer, unsigned index)
{
	GPtrArray *corpus = fuzzer->corpus;
	trace_files *trace = trace_copy(corpus->pdata[random_below(&fuzzer->state, corpus->len)]);

	batch_name_user(trace, index);
	mutate(&fuzzer->state, trace, corpus->pdata[random_below(&fuzzer->state, corpus->len)]);
	return trace;
}

static void save(const struct fuzzer *fuzzer, const struct batch_of_traces *batch)
{
	fprintf(stderr, "this does not hold: %s\n", witness->wrong);
	for (unsigned i = 0; i < batch->count; i++) {
		g_autofree char *path = g_strdup_printf("%scrash-trace-%" PRIu64 "-%" PRIu64 "-%u",
			fuzzer->prefix, fuzzer->seed, fuzzer->cases, i);

		trace_write(batch->trace[i], path);
		fprintf(stderr, "%s: %s\n", path, batch->reason[i] ? batch->reason[i] : "read as a whole");
	}
}

static long peak_mb(int whose)
{
	struct rusage usage;

	getrusage(whose, &usage);
	return usage.ru_maxrss / 1024;
}

/* Empties the batch. */
static bool run_batch(struct fuzzer *fuzzer, struct batch_of_traces *batch)
{
	bool good;

	alarm(HANG_SECONDS);
	good = batch_run(batch);
	alarm(0);
	witness_hold(peak_mb(RUSAGE_CHILDREN) < fuzzer->rss_limit_mb, "a process takes %ld MB",
		peak_mb(RUSAGE_CHILDREN));
	good &= !witness->wrong[0];
	if (!good)
		save(fuzzer, batch);
	for (unsigned i = 0; i < batch->count && good; i++)
		if (batch->reason[i])
			keep(fuzzer, batch->trace[i], batch->reason[i]);
	fuzzer->cases += batch->count;
	batch_empty(batch);
	return good;
}

/* Unharmed. */
static bool run_all(struct fuzzer *fuzzer, const GPtrArray *traces)
{
	guint count = traces->len; /* it may be the corpus, which grows */
	struct batch_of_traces batch = {0};
	bool good = true;

	for (guint i = 0; i < count && good; i++) {
		batch.trace[batch.count] = trace_copy(traces->pdata[i]);
		batch_name_user(batch.trace[batch.count], batch.count);
		batch.count++;
		if (batch.count == BATCH_TRACES || i + 1 == count)
			good = run_batch(fuzzer, &batch);
	}
	return good;
}

static bool run_for_a_while(struct fuzzer *fuzzer)
{
	int64_t end = clock_monotonic() + fuzzer->seconds * NS_PER_SECOND;
	struct batch_of_traces batch = {0};
	bool good = run_all(fuzzer, fuzzer->corpus);

	while (good && clock_monotonic() < end && (int64_t)fuzzer->cases < fuzzer->runs) {
		while (batch.count < BATCH_TRACES) {
			batch.trace[batch.count] = make_case(fuzzer, batch.count);
			batch.count++;
		}
		good = run_batch(fuzzer, &batch);
	}
	return good;
}

/* The command line */

static void read_option(struct fuzzer *fuzzer, const char *word)
{
	const char *value = strchr(word, '=');

	if (!value)
		return;
	value++;
	if (g_str_has_prefix(word, "-max_total_time="))
		fuzzer->seconds = g_ascii_strtoll(value, NULL, 10);
	else if (g_str_has_prefix(word, "-runs="))
		fuzzer->runs = g_ascii_strtoll(value, NULL, 10);
	else if (g_str_has_prefix(word, "-seed="))
		fuzzer->seed = g_ascii_strtoull(value, NULL, 10);
	else if (g_str_has_prefix(word, "-rss_limit_mb="))
		fuzzer->rss_limit_mb = (long)g_ascii_strtoll(value, NULL, 10);
	else if (g_str_has_prefix(word, "-artifact_prefix="))
		fuzzer->prefix = value;
}

static void read_words(struct fuzzer *fuzzer, int count, char **words)
{
	for (int i = 1; i < count; i++) {
		if (words[i][0] == '-') {
			read_option(fuzzer, words[i]);
		} else if (!fuzzer->corpus_folder) {
			fuzzer->corpus_folder = words[i];
		} else {
			g_ptr_array_add(fuzzer->files, trace_read(words[i]));
			fuzz_hold(fuzzer->files->pdata[fuzzer->files->len - 1] != NULL, "a FILE is a trace");
		}
	}
	fuzz_hold(fuzzer->corpus_folder != NULL, "a corpus is named");
}

static void free_trace(void *trace)
{
	g_ptr_array_unref(trace);
}

int main(int argc, char **argv)
{
	struct fuzzer fuzzer = {
		.prefix = "", .seconds = 600, .runs = INT64_MAX, .seed = 1, .rss_limit_mb = 512};
	trace_files *good;
	bool passed;

	signal(SIGALRM, on_alarm);
	fuzzer.corpus = g_ptr_array_new_with_free_func(free_trace);
	fuzzer.files = g_ptr_array_new_with_free_func(free_trace);
	fuzzer.reasons = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	read_words(&fuzzer, argc, argv);
	fuzzer.state = fuzzer.seed;
	load_plugins();
	load_corpus(&fuzzer);
	good = load_good(&fuzzer);
	batch_learn(good);
	g_ptr_array_unref(good);
	passed = fuzzer.files->len ? run_all(&fuzzer, fuzzer.files) : run_for_a_while(&fuzzer);
	fprintf(stderr, "stat::number_of_executed_units: %" PRIu64 "\n", fuzzer.cases);
	fprintf(stderr, "stat::new_units_added: %u\n", g_hash_table_size(fuzzer.reasons));
	fprintf(stderr, "stat::peak_rss_mb: %ld\n", MAX(peak_mb(RUSAGE_SELF), peak_mb(RUSAGE_CHILDREN)));
	batch_clean();
	g_hash_table_unref(fuzzer.reasons);
	g_ptr_array_unref(fuzzer.files);
	g_ptr_array_unref(fuzzer.corpus);
	return passed ? EXIT_SUCCESS : EXIT_FAILURE;
}
