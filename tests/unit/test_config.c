/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration: defaults, values with units, files and drop-ins. */
#include "config/load.h"
#include "config_rig.h"
#include "run.h"

START_TEST(test_empty_file_is_good)
{
	struct config config;

	ck_assert_int_eq(read_text(&config, ""), 0);
	ck_assert_str_eq(said, "");
	ck_assert_str_eq(output_of(&config)->server, "127.0.0.1:9410");
	ck_assert_str_eq(config.tracing_group, "tracing");
	ck_assert_int_eq(config.live_timer, 200000000);
	ck_assert_uint_eq(output_of(&config)->queue_size, 32 << 20);
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
	ck_assert_uint_eq(config.disk, 1 << 30); /* at least as much, as none is set */
	ck_assert_str_eq(output_of(&config)->server, "[2001:db8::1]:9410");
	ck_assert_uint_eq(output_of(&config)->queue_size, 2 << 20);
	ck_assert_uint_eq(output_of(&config)->batch_size, 64 << 10);
	ck_assert_int_eq(output_of(&config)->timeout, INT64_C(60000000000));
	ck_assert_str_eq(config.http, "");
	config_free(&config);
}
END_TEST

START_TEST(test_files_that_are_none)
{
	static const char nul[] = "[agent]\nhttp =\n\0socket =\n";
	static const char marked[] = "\xef\xbb\xbf[agent]\r\nhttp =\r\n";
	g_autofree char *huge = g_strnfill(1 << 20, '#'), *many = g_strnfill(1000, 'x'), *long_line = NULL;
	struct config config;
	g_autoptr(GString) lines = g_string_new("[output]\n");

	config_init(&config);
	ck_assert_int_eq(config_read(&config, "/nonexistent/agent.conf", true), 0);
	config_free(&config);
	ck_assert_int_eq(read_path(&config, "/nonexistent/agent.conf"), -1);
	ck_assert_str_eq(said, "test: F: cannot be read: No such file or directory\n");
	config_free(&config);
	ck_assert_int_eq(read_path(&config, "/dev"), -1);
	ck_assert_str_eq(said, "test: F: is a folder, not a file\n");
	config_free(&config);
	ck_assert_int_eq(read_path(&config, "/dev/zero"), -1);
	ck_assert_str_eq(said, "test: F: is larger than 1 MiB: this is no configuration file\n");
	config_free(&config);
	ck_assert_int_eq(read_path(&config, "/dev/null"), 0);
	config_free(&config);
	ck_assert_int_eq(read_bytes(&config, huge, 1 << 20), 0);
	config_free(&config);
	huge = g_realloc(huge, (1 << 20) + 1);
	huge[1 << 20] = '#';
	assert_refused_bytes(
		huge, (1 << 20) + 1, "test: F: is larger than 1 MiB: this is no configuration file\n");
	assert_refused_bytes(nul, sizeof(nul) - 1, "test: F:3: this is not UTF-8 text: byte 0x00\n");
	/* as an editor of another system leaves it */
	ck_assert_int_eq(read_text(&config, marked), 0);
	ck_assert_str_eq(config.http, "");
	config_free(&config);
	/* a value that does not fit a line of the log hides nothing of what it should be */
	long_line = g_strdup_printf("[output]\nwindow = %s\n", many);
	ck_assert_int_eq(read_text(&config, long_line), -1);
	ck_assert(g_str_has_suffix(said, "xxx...` is not valid: it must be a whole number from 1 to 1000\n"));
	config_free(&config);
	/* and of a thousand mistakes the first are told */
	for (int i = 0; i < 1000; i++)
		g_string_append(lines, "servr = x\n");
	ck_assert_int_eq(read_text(&config, lines->str), -1);
	ck_assert(g_str_has_suffix(said, "\ntest: F: too many mistakes: the rest is not read\n"));
	g_auto(GStrv) told = g_strsplit(said, "\n", -1);
	ck_assert_uint_eq(g_strv_length(told), 22);
	config_free(&config);
}
END_TEST

START_TEST(test_drop_ins)
{
	g_autofree char *path =
		write_file("agent.conf", "[output]\nserver = a:1\nwindow = 3\n[agent]\nhttp =\n");
	g_autofree char *b = write_file("agent.conf.d/20-b.conf", "[output]\nserver = c:1\n");
	g_autofree char *a = write_file("agent.conf.d/10-a.conf", "\n[output]\nserver = b:1\nwindow = 4\n");
	g_autofree char *other = write_file("agent.conf.d/README", "none of ours");
	g_autofree char *hidden = write_file("agent.conf.d/.20-b.conf", "an editor's");
	g_autofree char *text = NULL;
	struct config config;

	ck_assert_int_eq(read_path(&config, path), 0);
	ck_assert_str_eq(output_of(&config)->server, "c:1");
	ck_assert_uint_eq(output_of(&config)->window, 4);
	ck_assert_str_eq(config.http, "");
	ck_assert_uint_eq(config.files->len, 3);
	text = print(&config, path);
	ck_assert_ptr_nonnull(strstr(text, "# read: F\n# read: F.d/10-a.conf\n# read: F.d/20-b.conf\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n# F:5\nhttp =\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n# F.d/20-b.conf:2\nserver = c:1\nbalance = no\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n# F.d/10-a.conf:4\nwindow = 4\n"));
	config_free(&config);

	/* mistakes have the drop-in's name and line, also those of two keys together; so has a key that
	 * stands twice */
	g_free(write_file("agent.conf.d/30-c.conf", "[output]\nretry-min = 1d\nwindow = 1\nwindow = 2\n"));
	ck_assert_int_eq(read_path(&config, path), -1);
	ck_assert_str_eq(said, "test: F.d/30-c.conf:2: `retry-min = 1d` is not valid: it must be a time from "
			       "1ms to 1h, with its unit: us, ms, s, min or h\n"
			       "test: F.d/30-c.conf:4: `window` is already set on line 3\n");
	config_free(&config);
	g_free(write_file("agent.conf.d/30-c.conf", "[output]\nretry-min = 1min\n"));
	ck_assert_int_eq(read_path(&config, path), -1);
	ck_assert_str_eq(said, "test: F.d/30-c.conf:2: `retry-min` is larger than `retry-max` in [output]\n");
	config_free(&config);
}
END_TEST

START_TEST(test_drop_ins_that_are_none)
{
	g_autofree char *path = write_file("agent.conf", "");
	g_autofree char *folder_file = write_file("agent.conf.d", ""), *inner = NULL;
	struct config config;

	ck_assert_int_eq(read_path(&config, path), -1);
	ck_assert_str_eq(said, "test: F.d: cannot be read: Not a directory\n");
	config_free(&config);
	unlink(folder_file);
	inner = g_build_filename(folder, "agent.conf.d", "x.conf", NULL);
	ck_assert_int_eq(g_mkdir_with_parents(inner, 0700), 0);
	ck_assert_int_eq(read_path(&config, path), -1);
	ck_assert_str_eq(said, "test: F.d/x.conf: is a folder, not a file\n");
	config_free(&config);
	/* the drop-ins of a file that is not there count all the same */
	unlink(path);
	rmdir(inner);
	g_free(write_file("agent.conf.d/x.conf", "[agent]\nhttp =\n"));
	config_init(&config);
	ck_assert_int_eq(config_read(&config, path, true), 0);
	ck_assert_str_eq(config.http, "");
	config_free(&config);
}
END_TEST

/* The reference configuration names every key, with its default. */
START_TEST(test_reference_file)
{
	g_autofree char *reference = NULL;
	const struct output_config *files;
	struct config defaults, config;
	g_autoptr(GString) active = NULL;

	ck_assert(g_file_get_contents(AGENT_CONF, &reference, NULL, NULL));
	active = g_string_new(reference);
	g_string_replace(
		active, "\n#", "\n", 0); /* the settings are commented with a bare #, prose with "# " */
	g_string_replace(active, "\n ", "\n# ", 0);
	/* switched off, an output takes the keys of all types */
	ck_assert_uint_eq(g_string_replace(active, "\ntype = scribe\n", "\ntype = none\n", 0), 1);
	ck_assert_int_eq(read_text(&config, active->str), 0);
	ck_assert_uint_eq(config.outputs->len, 2);
	files = g_ptr_array_index(config.outputs, 1);
	config_init(&defaults);
	output_of(&config)->type = CONFIG_OUTPUT_SCRIBE;
	for (size_t i = 0; i < config_key_count; i++) {
		ck_assert_msg(config.origins[i].file || output_of(&config)->origins[i].file ||
				      files->origins[i].file,
			"%s is missing", config_keys[i].name);
		if (g_str_equal(config_keys[i].name, "directory") || g_str_equal(config_keys[i].name, "type"))
			continue;
		ck_assert_msg(!files->origins[i].file ||
				      config_value_equal(&config_keys[i], files, output_of(&defaults)),
			"%s has not its default", config_keys[i].name);
	}
	ck_assert_str_eq(files->directory, "/var/lib/blkin/files/files");
	g_ptr_array_set_size(config.outputs, 1);
	assert_same(&config, &defaults);
	config_free(&config);
	config_free(&defaults);
}
END_TEST

/* Variables of the environment; and what is printed has their values, and what looks like one. */
START_TEST(test_variables)
{
	struct config config, again;
	g_autofree char *printed = NULL;

	setenv("BLKIN_TEST_HOST", "zipkin.example.org", 1);
	setenv("BLKIN_TEST_EMPTY", "", 1);
	unsetenv("BLKIN_TEST_UNSET");
	ck_assert_int_eq(
		read_text(&config, "[output]\nserver = ${BLKIN_TEST_HOST}:${BLKIN_TEST_UNSET:-9410}\n"
				   "tls-ca = /$${A}/$HOME/$$/${BLKIN_TEST_EMPTY}/${BLKIN_TEST_EMPTY:-b}$\n"
				   "tls = ${BLKIN_TEST_UNSET:-yes}\n"),
		0);
	ck_assert_str_eq(said, "");
	ck_assert_str_eq(output_of(&config)->server, "zipkin.example.org:9410");
	ck_assert_str_eq(output_of(&config)->tls_ca, "/${A}/$HOME/$$//b$");
	printed = print(&config, NULL);
	ck_assert_ptr_nonnull(strstr(printed, "\ntls-ca = /$${A}/$HOME/$$//b$\n"));
	ck_assert_int_eq(read_text(&again, printed), 0);
	assert_same(&config, &again);
	config_free(&config);
	config_free(&again);
}
END_TEST

/* What is printed is a configuration, and the same one. */
START_TEST(test_print_and_read)
{
	struct config config, again;
	g_autofree char *first = NULL, *second = NULL;

	ck_assert_int_eq(
		read_text(&config,
			"[agent]\nsocket = \\s/a\\\\b\nstop-timeout = 0s\n[session]\nlevel = warning\n"
			"memory = 1025K\n[output]\ntimeout = 90s\nretry-max = 1h\n[output b]\ntype = "
			"http\nserver = "
			"b:1\n"
			"spool-size = 0\n[spool]\nmax-size = 3G\n[output a]\ntype = none\n"),
		0);
	ck_assert_str_eq(config.socket, " /a\\b");
	first = print(&config, NULL);
	ck_assert_int_eq(read_text(&again, first), 0);
	ck_assert_str_eq(said, "");
	assert_same(&config, &again);
	ck_assert_ptr_nonnull(strstr(first, "\nlevel = warning\n"));
	ck_assert_ptr_nonnull(strstr(first, "\nmemory = 1025K\n"));
	ck_assert_ptr_nonnull(strstr(first, "\ntimeout = 90s\n"));
	ck_assert_ptr_nonnull(strstr(first, "\nretry-max = 1h\n"));
	ck_assert_ptr_nonnull(strstr(first, "\nstop-timeout = 0ms\n"));
	config_free(&config);
	config_free(&again);
}
END_TEST

int main(void)
{
	TCase *tests = tcase_create("read");

	log_init("test");
	tcase_add_checked_fixture(tests, make_folder, remove_folder);
	tcase_add_test(tests, test_empty_file_is_good);
	tcase_add_test(tests, test_values);
	tcase_add_test(tests, test_files_that_are_none);
	tcase_add_test(tests, test_drop_ins);
	tcase_add_test(tests, test_drop_ins_that_are_none);
	tcase_add_test(tests, test_reference_file);
	tcase_add_test(tests, test_variables);
	tcase_add_test(tests, test_print_and_read);
	return run_cases("config", tests);
}
