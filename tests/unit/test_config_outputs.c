/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration of several outputs, and what a reload makes of it. */
#include "config_rig.h"
#include "run.h"

#include "config/check.h"
#include "config/load.h"
#include "config/merge.h"
#include "output/outputs.h"

START_TEST(test_outputs)
{
	struct config config;
	const struct output_config *first, *a, *b;

	ck_assert_int_eq(
		read_text(&config,
			"[output  b-1]\nserver = b:1\nwindow = 3\ntype = http\n[spool]\nmax-size = 2G\n"
			"[output a_2]\ntype = none\ntakes = spans\n[output]\nserver = c:1\nwindow = 4\n"
			"spool-size = 8M\n[output b-1]\ntimeout = 1s\n[output e]\nspool-size = 0\n"),
		0);
	ck_assert_str_eq(said, "");
	ck_assert_uint_eq(config.outputs->len, 4);
	first = g_ptr_array_index(config.outputs, 0);
	b = g_ptr_array_index(config.outputs, 1);
	a = g_ptr_array_index(config.outputs, 2);
	ck_assert_ptr_eq(config_output(&config, "default"), first);
	ck_assert_ptr_eq(config_output(&config, "a_2"), a);
	ck_assert_ptr_null(config_output(&config, "b"));
	ck_assert_str_eq(first->name, "default");
	ck_assert_str_eq(first->section, "output");
	ck_assert_str_eq(b->name, "b-1");
	ck_assert_str_eq(b->section, "output b-1");
	/*
	 * nothing is inherited from [output], but the default of spool-size is [spool]'s, wherever that
	 * section is
	 */
	ck_assert_str_eq(a->server, "127.0.0.1:9410");
	ck_assert_uint_eq(a->window, 8);
	ck_assert_uint_eq(a->type, CONFIG_OUTPUT_NONE);
	ck_assert_uint_eq(a->takes, CONFIG_TAKES_SPANS);
	ck_assert_uint_eq(a->spool_size, UINT64_C(2) << 30);
	ck_assert(!config_output_is_set(a, "server"));
	ck_assert_str_eq(b->server, "b:1");
	ck_assert_uint_eq(b->type, CONFIG_OUTPUT_HTTP);
	ck_assert_int_eq(b->timeout, INT64_C(1000000000));
	ck_assert(config_output_is_set(b, "server"));
	ck_assert_uint_eq(first->window, 4);
	ck_assert_uint_eq(first->spool_size, 8 << 20);
	ck_assert_uint_eq(config_output(&config, "e")->spool_size, 0);
	config_free(&config);
}
END_TEST

START_TEST(test_too_many_outputs)
{
	g_autoptr(GString) text = g_string_new(NULL);
	struct config config;

	for (int i = 1; i < CONFIG_OUTPUTS_MAX; i++)
		g_string_append_printf(text, "[output o%d]\n", i);
	g_string_append(text, "[output o1]\n[output]\n");
	ck_assert_int_eq(read_text(&config, text->str), 0);
	ck_assert_uint_eq(config.outputs->len, CONFIG_OUTPUTS_MAX);
	config_free(&config);
	g_string_append(text, "[output more]\n");
	assert_refused(text->str, "test: F:18: there can be 16 outputs at most, [output] among them: [output "
				  "more] is one too many\n");
}
END_TEST

START_TEST(test_drop_ins_of_outputs)
{
	g_autofree char *path = write_file("agent.conf", "[output two]\nserver = a:1\nwindow = 3\n");
	g_autofree char *one = write_file("agent.conf.d/1.conf", "[output two]\nserver = b:1\n");
	g_autofree char *two = write_file("agent.conf.d/2.conf", "[output three]\n[output]\nwindow = 5\n");
	g_autofree char *text = NULL;
	struct config config;

	ck_assert_int_eq(read_path(&config, path), 0);
	ck_assert_uint_eq(config.outputs->len, 3);
	ck_assert_str_eq(config_output(&config, "two")->server, "b:1");
	ck_assert_uint_eq(config_output(&config, "two")->window, 3);
	ck_assert_ptr_nonnull(config_output(&config, "three"));
	text = print(&config, path);
	ck_assert_ptr_nonnull(strstr(text, "\n[output two]\ntype = scribe\ntakes = spans\n# F.d/1.conf:2\n"
					   "server = b:1\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n# F:3\nwindow = 3\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n# F.d/2.conf:3\nwindow = 5\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n[output three]\ntype = scribe\n"));
	config_free(&config);
	/* a rule that two files break together has the later one's line */
	g_free(write_file("agent.conf.d/3.conf", "[output two]\nqueue-size = 64K\n"));
	ck_assert_int_eq(read_path(&config, path), -1);
	ck_assert_str_eq(said, "test: F.d/3.conf:2: `queue-size` must hold at least two batches: twice "
			       "`batch-size` in [output two]\n");
	config_free(&config);
}
END_TEST

/* A reload's configuration: of the files, but for what needs a restart; the running one stays as it is. */
START_TEST(test_merge)
{
	struct config running, fresh, merged, before;
	g_autoptr(GPtrArray) waiting = NULL;

	ck_assert_int_eq(read_text(&before, "[session]\nmemory = 8M\n[output a]\nspool-size = 9M\n[output "
					    "b]\n[output c]\ntype = none\n"),
		0);
	ck_assert_int_eq(read_text(&running, "[session]\nmemory = 8M\n[output a]\nspool-size = 9M\n[output "
					     "b]\n[output c]\ntype = none\n"),
		0);
	ck_assert_int_eq(read_text(&fresh, "[agent]\nhttp =\n[session]\nmemory = 16M\nlevel = err\n[output "
					   "c]\nspool-size = 8M\n[output d]\nspool-size = 7M\n[output]\n"
					   "window = 2\n[output a]\nserver = a:1\nbatch-spans = 3\n"
					   "[spool]\nmax-size = 2G\n"),
		0);
	running.own_relay = true;
	config_merge(&merged, &running, &fresh);
	assert_same(&running, &before);
	ck_assert_str_eq(merged.http, "");
	ck_assert_uint_eq(merged.level, 3);
	ck_assert_uint_eq(merged.memory, 8 << 20);
	ck_assert_uint_eq(merged.spool_max_size, 1 << 30);
	ck_assert(merged.own_relay);
	/* the outputs are those of the files, by their order */
	ck_assert_uint_eq(merged.outputs->len, 4);
	ck_assert_str_eq(((struct output_config *)g_ptr_array_index(merged.outputs, 1))->name, "c");
	ck_assert_ptr_null(config_output(&merged, "b"));
	ck_assert_str_eq(config_output(&merged, "a")->server, "a:1");
	ck_assert_uint_eq(config_output(&merged, "a")->spool_size, 9 << 20);
	ck_assert_uint_eq(output_of(&merged)->spool_size, 1 << 30);
	/* those that did not deliver have nothing that needs a restart */
	ck_assert_uint_eq(config_output(&merged, "c")->spool_size, 8 << 20);
	ck_assert_uint_eq(config_output(&merged, "d")->spool_size, 7 << 20);
	/* what changes, and what waits: an unset `spool-size` is not named beside [spool]'s `max-size` */
	ck_assert_uint_eq(config_changes(&running, &merged), CONFIG_CHANGES_HTTP | CONFIG_CHANGES_READER);
	ck_assert_uint_eq(
		config_output_changes(output_of(&running), output_of(&merged)), CONFIG_CHANGES_UPLINK);
	ck_assert_uint_eq(config_output_changes(config_output(&running, "a"), config_output(&merged, "a")),
		CONFIG_CHANGES_UPLINK | CONFIG_CHANGES_BATCHES);
	waiting = config_waiting(&merged, &fresh);
	ck_assert_uint_eq(waiting->len, 3);
	ck_assert_str_eq(g_ptr_array_index(waiting, 0), "`memory` in [session]");
	ck_assert_str_eq(g_ptr_array_index(waiting, 1), "`max-size` in [spool]");
	ck_assert_str_eq(g_ptr_array_index(waiting, 2), "`spool-size` in [output a]");
	config_free(&merged);
	config_free(&fresh);
	config_free(&before);
	config_free(&running);
}
END_TEST

/* Reloads one after another: a key that waits does so until the file has its old value again. */
START_TEST(test_merge_again)
{
	struct config running, fresh, first, second;
	GPtrArray *waiting;

	ck_assert_int_eq(read_text(&running, "[output a]\nspool-size = 9M\n"), 0);
	ck_assert_int_eq(read_text(&fresh, "[output a]\n"), 0);
	config_merge(&first, &running, &fresh);
	config_merge(&second, &first, &fresh);
	ck_assert_uint_eq(config_changes(&first, &second), 0);
	ck_assert_uint_eq(config_output(&second, "a")->spool_size, 9 << 20);
	waiting = config_waiting(&second, &fresh);
	ck_assert_uint_eq(waiting->len, 1);
	ck_assert_str_eq(g_ptr_array_index(waiting, 0), "`spool-size` in [output a]");
	g_ptr_array_unref(waiting);
	config_free(&first);
	config_merge(&first, &second, &running);
	waiting = config_waiting(&first, &running);
	ck_assert_uint_eq(waiting->len, 0);
	assert_same(&first, &running);
	g_ptr_array_unref(waiting);
	config_free(&first);
	config_free(&second);
	config_free(&fresh);
	config_free(&running);
}
END_TEST

/* A reader that starts later reads what a reload has made, so it must be as good as both that it is made of.
 */
static void assert_fits(
	const char *was, const char *is, const char *waiting, void (*look)(const struct config *))
{
	struct config running, fresh, merged;
	g_autoptr(GPtrArray) names = NULL;
	g_autofree char *list = NULL;

	ck_assert_int_eq(read_text(&running, was), 0);
	ck_assert_int_eq(read_text(&fresh, is), 0);
	config_merge(&merged, &running, &fresh);
	look(&merged);
	ck_assert_int_eq(config_check(&merged), 0);
	names = config_waiting(&merged, &fresh);
	g_ptr_array_add(names, NULL);
	list = g_strjoinv(", ", (char **)names->pdata);
	ck_assert_str_eq(list, waiting);
	config_free(&merged);
	config_free(&fresh);
	config_free(&running);
}

static void has_pending(const struct config *merged)
{
	ck_assert_uint_eq(merged->reader_memory, 160 << 20);
	ck_assert_uint_eq(merged->max_pending, 80 << 20);
}

static void has_small_batches(const struct config *merged)
{
	ck_assert_uint_eq(config_output(merged, "a")->spool_size, 2 << 20);
	ck_assert_uint_eq(config_output(merged, "a")->batch_size, 256 << 10);
}

static void has_large_batches(const struct config *merged)
{
	ck_assert_uint_eq(config_output(merged, "a")->batch_size, 8 << 20);
}

static void has_old_directory(const struct config *merged)
{
	ck_assert_str_eq(config_output(merged, "a")->directory, "/old/files/a");
	ck_assert(config_output(merged, "a")->own_directory);
}

START_TEST(test_merge_fits)
{
	assert_fits("", "[session]\nreader-memory = 1G\n[spans]\nmax-pending = 128M\n",
		"`reader-memory` in [session], `max-pending` in [spans]", has_pending);
	assert_fits("[output a]\nspool-size = 2M\nbatch-size = 64K\n",
		"[output a]\nspool-size = 1G\nbatch-size = 8M\n",
		"`batch-size` in [output a], `spool-size` in [output a]", has_small_batches);
	assert_fits("[output a]\nspool-size = 0\n", "[output a]\nspool-size = 1G\nbatch-size = 8M\n",
		"`spool-size` in [output a]", has_large_batches);
	assert_fits("[agent]\nstate-directory = /old\n[output a]\ntype = file\n",
		"[agent]\nstate-directory = /new\n[output a]\ntype = file\n", "`state-directory` in [agent]",
		has_old_directory);
}
END_TEST

START_TEST(test_slashes_at_the_end)
{
	struct config config;

	ck_assert_int_eq(read_text(&config, "[agent]\nstate-directory = /state//\n[output a]\ntype = file\n"
					    "[output b]\ntype = file\ndirectory = /state/b/\n[output c]\n"
					    "type = file\ndirectory = /\n"),
		0);
	ck_assert_str_eq(config.state_directory, "/state");
	ck_assert_str_eq(config_output(&config, "a")->directory, "/state/files/a");
	ck_assert(config_output(&config, "a")->own_directory && config_output(&config, "b")->own_directory);
	ck_assert_str_eq(config_output(&config, "c")->directory, "/");
	config_free(&config);
	assert_refused("[output a]\ntype = file\ndirectory = /x\n[output b]\ntype = file\ndirectory = /x/\n",
		"test: F:6: `directory` must differ from that of every other output, in [output b]\n");
}
END_TEST

/* A line of a section as it is printed. */
static bool has_key(const char *section, const char *key)
{
	g_autofree char *line = g_strdup_printf("\n%s =", key);

	return strstr(section, line);
}

/* The section of the output `a`, and no further; the caller's. */
static char *print_output(const char *text)
{
	g_autofree char *all = NULL;
	struct config config;
	char *section;

	ck_assert_int_eq(read_text(&config, text), 0);
	all = print(&config, NULL);
	section = g_strdup(strstr(all, "\n[output a]\n"));
	ck_assert_ptr_nonnull(section);
	*strstr(section, "\n[spool]") = '\0';
	config_free(&config);
	return section;
}

/* Each key goes with some types: what is printed has these alone, and what has others is refused. */
START_TEST(test_keys_of_type)
{
	static const struct {
		const char *type, *with, *without;
	} cases[] = {
		{"scribe", "server balance category tls tls-key window rate-limit keep spool-size",
			"format path headers-file compression directory rotate-size sync"},
		{"http", "server balance format path headers-file compression tls timeout tags",
			"category directory rotate-time"},
		{"otlp", "server balance path headers-file compression tls return-interval",
			"category format total-size"},
		{"file", "format directory rotate-size rotate-time total-size sync retry-min keep batch-size",
			"server balance category path headers-file compression tls tls-ca window timeout "
			"rate-limit"},
		{"none", "type", "takes server balance category format directory keep spool-size window"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strdup_printf("[output a]\ntype = %s\n", cases[i].type);
		g_autofree char *section = print_output(text);
		g_auto(GStrv) with = g_strsplit(cases[i].with, " ", -1);
		g_auto(GStrv) without = g_strsplit(cases[i].without, " ", -1);

		for (char **key = with; *key; key++)
			ck_assert_msg(has_key(section, *key), "%s has no %s", cases[i].type, *key);
		for (char **key = without; *key; key++)
			ck_assert_msg(!has_key(section, *key), "%s has %s", cases[i].type, *key);
	}
}
END_TEST

/* Without a `server` it is this host, at the port of the type. */
START_TEST(test_default_servers)
{
	static const char *const cases[][3] = {{"scribe", "127.0.0.1:9410", "/api/v1/spans"},
		{"http", "127.0.0.1:9411", "/api/v1/spans"}, {"otlp", "127.0.0.1:4318", "/v1/traces"}};
	struct config config;

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		g_autofree char *text = g_strdup_printf("[output]\ntype = %s\n", cases[i][0]);

		ck_assert_int_eq(read_text(&config, text), 0);
		ck_assert_str_eq(output_of(&config)->server, cases[i][1]);
		ck_assert_str_eq(output_of(&config)->path, cases[i][2]);
		config_free(&config);
	}
	ck_assert_int_eq(read_text(&config, "[output]\nformat = json2\nserver = a:1\ntype = http\n"), 0);
	ck_assert_str_eq(output_of(&config)->server, "a:1");
	ck_assert_str_eq(output_of(&config)->path, "/api/v2/spans");
	config_free(&config);
}
END_TEST

START_TEST(test_keys_of_another_type)
{
	g_autofree char *off = NULL;

	assert_refused("[output a]\npath = /x\ntype = otlp\ncategory = c\n",
		"test: F:4: `category` is for type scribe, but the type is otlp in [output a]\n");
	assert_refused("[output]\npath = /x\n", "test: F:2: `path` is for type http or otlp, but the type is "
						"scribe (the default) in [output]\n");
	assert_refused("[output a]\ntype = scribe\nformat = thrift\n",
		"test: F:3: `format` is for type http, file or kafka, but the type is scribe in [output "
		"a]\n");
	assert_refused("[output a]\ntype = otlp\nformat = json2\nsync = batch\n",
		"test: F:3: `format` is for type http, file or kafka, but the type is otlp in [output a]\n"
		"test: F:4: `sync` is for type file, but the type is otlp in [output a]\n");
	assert_refused("[output a]\ntype = file\nheaders-file = /h\nwindow = 1\n",
		"test: F:3: `headers-file` is for type http or otlp, but the type is file in [output a]\n"
		"test: F:4: `window` is for type scribe, http, otlp or kafka, but the type is file in "
		"[output a]\n");
	assert_refused("[output a]\ntype = kafka\nserver = a:1\nheaders-file = /h\nreturn-interval = 1s\n",
		"test: F:3: `server` is for type scribe, http or otlp, but the type is kafka; write "
		"`brokers`, in [output a]\n"
		"test: F:4: `headers-file` is for type http or otlp, but the type is kafka in [output a]\n"
		"test: F:5: `return-interval` is for type scribe, http or otlp, but the type is kafka in "
		"[output a]\n");
	assert_refused("[output a]\ntype = kafka\nbalance = yes\n",
		"test: F:3: `balance` is for type scribe, http or otlp, but the type is kafka; Kafka shares "
		"messages out over its brokers itself, in [output a]\n");
	assert_refused("[output a]\ntype = file\nbalance = yes\n",
		"test: F:3: `balance` is for type scribe, http "
		"or otlp, but the type is file in [output a]\n");
	assert_refused("[output a]\ntype = http\nbrokers = a:1\nkey = trace\n",
		"test: F:3: `brokers` is for type kafka, but the type is http; write `server`, in [output "
		"a]\n"
		"test: F:4: `key` is for type kafka, but the type is http in [output a]\n");
	/* one that is switched off keeps what it had */
	off = print_output("[output a]\ntype = none\ncategory = c\ndirectory = /d\nheaders-file = /h\n");
	ck_assert(has_key(off, "category") && has_key(off, "directory") && has_key(off, "headers-file"));
	ck_assert(!has_key(off, "path"));
}
END_TEST

/* The password is in one place, and has a user; it is in no message. */
START_TEST(test_proxies)
{
	g_autofree char *good = print_output("[output a]\ntype = otlp\nproxy = u:hush@h:1\n");
	g_autofree char *file =
		print_output("[output a]\ntype = http\nproxy = http://u@h:1/\nproxy-password-file = /p\n");
	g_autofree char *none = print_output("[output a]\ntype = http\nproxy =\nproxy-password-file = /p\n");

	ck_assert(strstr(good, "\nproxy = u:***@h:1\n") && strstr(file, "\nproxy = http://u@h:1/\n") && none);
	assert_refused("[output a]\ntype = http\nproxy = u:hush@h\n",
		"test: F:3: `proxy = u:***@h` is not valid: it must be HOST:PORT, or "
		"http://USER@HOST:PORT\n");
	assert_refused("[output a]\ntype = http\nproxy = u:hush@h:1\nproxy-password-file = /p\n",
		"test: F:4: the proxy's password is either in `proxy` or in `proxy-password-file`, not in "
		"both, in [output a]\n");
	assert_refused("[output a]\ntype = http\nproxy = h:1\nproxy-password-file = /p\n",
		"test: F:4: `proxy-password-file` needs a user in `proxy`, as http://USER@HOST:PORT, in "
		"[output a]\n");
	assert_refused("[output a]\ntype = http\nproxy-password-file = /p\n",
		"test: F:3: `proxy-password-file` needs `proxy` in [output a]\n");
	assert_refused("[output a]\nproxy = h:1\n",
		"test: F:2: `proxy` is for type http or otlp, but the type is scribe (the default) in "
		"[output a]\n");
}
END_TEST

/* Which format spans may be encoded in as they are made: that of the only output, if it takes them as they
 * are. */
START_TEST(test_sole_format)
{
	static const struct {
		const char *text;
		int format; /* -1: they are wanted as records */
	} cases[] = {
		{"[output]\ntype = scribe\n", BATCH_ZIPKIN_SPANS},
		{"[output]\ntype = http\nserver = h:1\nformat = json2\n", BATCH_ZIPKIN_JSON},
		{"[output]\ntype = otlp\nserver = h:1\n[output b]\ntype = none\n", BATCH_OTLP_SPANS},
		{"[output]\ntype = kafka\nbrokers = h:1\n", BATCH_ZIPKIN_SPANS},
		{"[output]\ntype = kafka\nbrokers = h:1\nkey = trace\n", -1},
		{"[output]\ntype = file\ndirectory = /f\n", -1},
		{"[output]\ntype = scribe\ntags = a=b\n", -1},
		{"[output]\ntype = scribe\n[output b]\ntype = otlp\nserver = h:1\n", -1},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		enum batch_format format;
		struct config config;

		ck_assert_int_eq(read_text(&config, cases[i].text), 0);
		ck_assert_int_eq(outputs_sole_format(&config, &format) ? (int)format : -1, cases[i].format);
		config_free(&config);
	}
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("read");

	log_init("test");
	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_add_test(tests, test_outputs);
	tcase_add_test(tests, test_too_many_outputs);
	tcase_add_test(tests, test_drop_ins_of_outputs);
	tcase_add_test(tests, test_keys_of_type);
	tcase_add_test(tests, test_default_servers);
	tcase_add_test(tests, test_keys_of_another_type);
	tcase_add_test(tests, test_proxies);
	tcase_add_test(tests, test_sole_format);
	tcase_add_test(tests, test_merge);
	tcase_add_test(tests, test_merge_again);
	tcase_add_test(tests, test_merge_fits);
	tcase_add_test(tests, test_slashes_at_the_end);
	return run_cases("outputs", tests);
}
