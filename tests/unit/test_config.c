/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration: defaults, values with units, and one clear line for each mistake. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>

#include "config.h"
#include "log.h"

static char *said; /* what was logged by the last read, paths cut to the file's name */

/* Reads @text as a configuration file; what it logs is caught in `said`. */
static int read_text(struct config *config, const char *text)
{
	char path[] = "/tmp/blkin-test-XXXXXX", log_path[] = "/tmp/blkin-test-XXXXXX";
	int file = g_mkstemp(path), log_file = g_mkstemp(log_path), old = dup(STDERR_FILENO), status;
	GString *cut;

	ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
	close(file);
	dup2(log_file, STDERR_FILENO);
	config_init(config);
	status = config_read(config, path, false);
	fflush(stderr);
	dup2(old, STDERR_FILENO);
	g_free(said);
	ck_assert(g_file_get_contents(log_path, &said, NULL, NULL));
	cut = g_string_new(said);
	g_string_replace(cut, path, "F", 0);
	g_free(said);
	said = g_string_free(cut, FALSE);
	close(log_file);
	close(old);
	unlink(path);
	unlink(log_path);
	return status;
}

static void assert_refused(const char *text, const char *message)
{
	struct config config;

	ck_assert_int_eq(read_text(&config, text), -1);
	ck_assert_str_eq(said, message);
	config_free(&config);
}

START_TEST(test_empty_file_is_good)
{
	struct config config;

	ck_assert_int_eq(read_text(&config, ""), 0);
	ck_assert_str_eq(said, "");
	ck_assert_str_eq(config.server, "127.0.0.1:9410");
	ck_assert_str_eq(config.tracing_group, "tracing");
	ck_assert_int_eq(config.live_timer, 200000000);
	ck_assert_uint_eq(config.queue_size, 32 << 20);
	config_free(&config);
}
END_TEST

START_TEST(test_values)
{
	struct config config;

	ck_assert_int_eq(
		read_text(&config,
			"# comment\n\n[session]\n  name = my-node.1  \ntracing-group =\nlive-timer=50ms\n"
			"memory = 1G\n[output]\nserver = [2001:db8::1]:9410\nqueue-size = "
			"2097152\nbatch-size=64K\n"
			"timeout = 1min\n[agent]\nhttp =\n"),
		0);
	ck_assert_str_eq(config.session_name, "my-node.1");
	ck_assert_str_eq(config.tracing_group, "");
	ck_assert_int_eq(config.live_timer, 50000000);
	ck_assert_uint_eq(config.memory, 1 << 30);
	ck_assert_str_eq(config.server, "[2001:db8::1]:9410");
	ck_assert_uint_eq(config.queue_size, 2 << 20);
	ck_assert_uint_eq(config.batch_size, 64 << 10);
	ck_assert_int_eq(config.timeout, INT64_C(60000000000));
	ck_assert_str_eq(config.http, "");
	config_free(&config);
}
END_TEST

START_TEST(test_mistakes)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"[output]\nservr = a:1\n",
			"test: F:2: unknown key `servr` in [output]; did you mean `server`?\n"},
		{"[agent]\nserver = a:1\n",
			"test: F:2: unknown key `server` in [agent]; it belongs in [output]\n"},
		{"[agent]\nxyzzyplugh = 1\n", "test: F:2: unknown key `xyzzyplugh` in [agent]; "
					      "blkin-agent.conf(5) lists the keys\n"},
		{"[outputs]\nserver = a:1\n",
			"test: F:1: unknown section [outputs]; did you mean [output]?\n"},
		{"[something-else]\n",
			"test: F:1: unknown section [something-else]; blkin-agent.conf(5) lists them\n"},
		{"server = a:1\n", "test: F:1: `server` stands before the first [section]\n"},
		{"[output]\n\nserver\n",
			"test: F:3: this is neither a [section], nor `key = value`, nor a # comment\n"},
		{"[output\n", "test: F:1: a section is written [name], on a line of its own\n"},
		{"[output]\nserver = localhost\n", "test: F:2: `server = localhost` is not what it should "
						   "be: HOST:PORT, as 127.0.0.1:9410 or [::1]:9410\n"},
		{"[output]\nserver = h:99999\n", "test: F:2: `server = h:99999` is not what it should be: "
						 "HOST:PORT, as 127.0.0.1:9410 or [::1]:9410\n"},
		{"[output]\nwindow = many\n",
			"test: F:2: `window = many` is not what it should be: a whole number\n"},
		{"[output]\nwindow = 0\n", "test: F:2: `window = 0` is out of range: it can be 1 to 1000\n"},
		{"[output]\nwindow = -1\n",
			"test: F:2: `window = -1` is not what it should be: a whole number\n"},
		{"[output]\ntimeout = 5\n",
			"test: F:2: `timeout = 5` is not what it should be: a time, as 200ms, 5s or 1min\n"},
		{"[output]\ntimeout = 1us\n",
			"test: F:2: `timeout = 1us` is out of range: it can be 10ms to 10min\n"},
		{"[session]\nmemory = 99999999999999999999G\n",
			"test: F:2: `memory = 99999999999999999999G` is not what it should be: a size, as "
			"64K, 16M or 1G\n"},
		{"[session]\nlevel = chatty\n",
			"test: F:2: `level = chatty` is not what it should be: emerg, alert, crit, "
			"err, warning, notice, info or debug\n"},
		{"[session]\nname = a/b\n", "test: F:2: `name = a/b` is not what it should be: a name of "
					    "letters, digits, `_`, `.` and `-`\n"},
		{"[session]\nname = a\nname = b\n", "test: F:3: `name` stands already in line 2\n"},
		{"[agent]\nsocket = /a\xff\n", "test: F:2: the value of `socket` is not UTF-8 text\n"},
		{"[output]\nretry-min = 10s\nretry-max = 1s\n",
			"test: F: `retry-min` is larger than `retry-max` in [output]\n"},
		{"[output]\nbatch-size = 1M\nqueue-size = 1M\n",
			"test: F: `queue-size` must hold two batches at least: twice `batch-size` in "
			"[output]\n"},
		{"[output]\nwindow = 0\nservr = x\n",
			"test: F:2: `window = 0` is out of range: it can be 1 to 1000\n"
			"test: F:3: unknown key `servr` in [output]; did you mean `server`?\n"},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++)
		assert_refused(cases[i].text, cases[i].message);
}
END_TEST

START_TEST(test_files_that_are_none)
{
	struct config config;

	config_init(&config);
	ck_assert_int_eq(config_read(&config, "/nonexistent/agent.conf", true), 0);
	ck_assert_int_eq(config_read(&config, "/nonexistent/agent.conf", false), -1);
	ck_assert_int_eq(config_read(&config, "/dev", false), -1);
	ck_assert_int_eq(config_read(&config, "/proc/self/environ", false), -1); /* has NUL bytes */
	config_free(&config);
}
END_TEST

/* The reference configuration names every key, with its default: reading it changes nothing. */
START_TEST(test_reference_file)
{
	g_autofree char *reference = NULL;
	struct config defaults, config;
	GString *active;

	ck_assert(g_file_get_contents(AGENT_CONF, &reference, NULL, NULL));
	active = g_string_new(reference);
	g_string_replace(
		active, "\n#", "\n", 0); /* the settings are commented with a bare #, prose with "# " */
	g_string_replace(active, "\n ", "\n# ", 0);
	config_init(&defaults);
	ck_assert_int_eq(read_text(&config, active->str), 0);
	ck_assert_str_eq(config.http, defaults.http);
	ck_assert_str_eq(config.socket, defaults.socket);
	ck_assert_str_eq(config.session_name, defaults.session_name);
	ck_assert_str_eq(config.tracing_group, defaults.tracing_group);
	ck_assert_str_eq(config.relay_host, defaults.relay_host);
	ck_assert_str_eq(config.server, defaults.server);
	ck_assert_str_eq(config.category, defaults.category);
	ck_assert_int_eq(config.stop_timeout, defaults.stop_timeout);
	ck_assert_uint_eq(config.relay_control_port, defaults.relay_control_port);
	ck_assert_uint_eq(config.relay_data_port, defaults.relay_data_port);
	ck_assert_uint_eq(config.relay_live_port, defaults.relay_live_port);
	ck_assert_int_eq(config.live_timer, defaults.live_timer);
	ck_assert_uint_eq(config.level, defaults.level);
	ck_assert_uint_eq(config.memory, defaults.memory);
	ck_assert_uint_eq(config.disk, defaults.disk);
	ck_assert_int_eq(config.linger, defaults.linger);
	ck_assert_int_eq(config.grace, defaults.grace);
	ck_assert_uint_eq(config.max_pending, defaults.max_pending);
	ck_assert_uint_eq(config.batch_spans, defaults.batch_spans);
	ck_assert_uint_eq(config.batch_size, defaults.batch_size);
	ck_assert_int_eq(config.batch_delay, defaults.batch_delay);
	ck_assert_uint_eq(config.queue_size, defaults.queue_size);
	ck_assert_uint_eq(config.window, defaults.window);
	ck_assert_int_eq(config.timeout, defaults.timeout);
	ck_assert_int_eq(config.retry_min, defaults.retry_min);
	ck_assert_int_eq(config.retry_max, defaults.retry_max);
	g_string_free(active, TRUE);
	config_free(&config);
	config_free(&defaults);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("config");
	TCase *tests = tcase_create("read");
	SRunner *runner = srunner_create(suite);
	int failed;

	log_init("test");
	tcase_add_test(tests, test_empty_file_is_good);
	tcase_add_test(tests, test_values);
	tcase_add_test(tests, test_mistakes);
	tcase_add_test(tests, test_files_that_are_none);
	tcase_add_test(tests, test_reference_file);
	suite_add_tcase(suite, tests);
	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
