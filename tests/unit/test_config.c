/* SPDX-License-Identifier: BSD-2-Clause */
/* The configuration: defaults, values with units, and one clear line for each mistake. */
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
	ck_assert_str_eq(output_of(&config)->server, "[2001:db8::1]:9410");
	ck_assert_uint_eq(output_of(&config)->queue_size, 2 << 20);
	ck_assert_uint_eq(output_of(&config)->batch_size, 64 << 10);
	ck_assert_int_eq(output_of(&config)->timeout, INT64_C(60000000000));
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
		{"[outptu zipkin2]\n",
			"test: F:1: unknown section [outptu zipkin2]; did you mean [output NAME]?\n"},
		{"[output:zipkin2]\n",
			"test: F:1: unknown section [output:zipkin2]; did you mean [output NAME]?\n"},
		{"[agent one]\n", "test: F:1: unknown section [agent one]; did you mean [agent]?\n"},
		{"[output ]\n[output\t]\n", "test: F:1: the output has no name: write [output NAME], or "
					    "[output] without a space\n"
					    "test: F:2: the output has no name: write [output NAME], or "
					    "[output] without a space\n"},
		{"[output a b]\nservr = a:1\n", "test: F:1: `a b` cannot be an output's name: it has "
						"letters, digits, `_` and `-` only\n"},
		{"[output \"a\"]\n", "test: F:1: `\"a\"` cannot be an output's name: it has letters, "
				     "digits, `_` and `-` only\n"},
		{"[output a.b]\n", "test: F:1: `a.b` cannot be an output's name: it has letters, digits, "
				   "`_` and `-` only\n"},
		{"[output abcdefghijklmnopqrstuvwxyzABCDEFG]\n",
			"test: F:1: an output's name has 32 characters at most: "
			"`abcdefghijklmnopqrstuvwxyzABCDEFG` has 33\n"},
		{"[output default]\nserver = a:1\n",
			"test: F:1: the output `default` is the section [output]: write that\n"},
		{"[output zipkin2]\nservr = a:1\n",
			"test: F:2: unknown key `servr` in [output zipkin2]; did you mean `server`?\n"},
		{"[output zipkin2]\nmax-size = 1G\n",
			"test: F:2: unknown key `max-size` in [output zipkin2]; it belongs in [spool]\n"},
		{"[output zipkin2]\nserver = a:1\n[output]\nserver = b:1\n[output zipkin2]\nserver = "
		 "c:1\n",
			"test: F:6: `server` is already set in line 2\n"},
		{"[output zipkin2]\ntakes = spans, events\n",
			"test: F:2: `takes = spans, events` is not valid: it must be spans\n"},
		{"[output zipkin2]\ntakes =\n", "test: F:2: `takes = ` is not valid: it must be spans\n"},
		{"[output a]\nretry-min = 10s\n[output b]\nretry-min = 10s\ntls-key = /k\n",
			"test: F:2: `retry-min` is larger than `retry-max` in [output a]\n"
			"test: F:4: `retry-min` is larger than `retry-max` in [output b]\n"
			"test: F:5: `tls-certificate` and `tls-key` go together in [output b]\n"
			"test: F:5: TLS files need `tls = yes` in [output b]\n"},
		{"[spool]\nmax-size = 2M\n[output a]\nbatch-size = 256K\n[output b]\n",
			"test: F:2: `max-size` in [spool] must be 0 (no spool), or at least 1M and eight "
			"times `batch-size` in [output]\n"
			"test: F:2: `max-size` in [spool] must be 0 (no spool), or at least 1M and eight "
			"times `batch-size` in [output b]\n"},
		{"[output a]\nspool-size = 1M\n", "test: F:2: `spool-size` must be 0 (no spool), or at least "
						  "1M and eight times `batch-size` in [output a]\n"},
		{"[output]\nspool-size = 4M\nbatch-size = 1M\n",
			"test: F:3: `spool-size` must be 0 (no spool), or at least 1M and eight times "
			"`batch-size` in [output]\n"},
		{"[session]\nrelay-live-port = 0\n",
			"test: F:2: the relay's ports must either all be 0, or none of them, in [session]\n"},
		{"[session]\nrelay-live-port = 0\nrelay-data-port = 0\nrelay-control-port = 0\n",
			"test: F:4: `keep = yes` needs a relay daemon that outlives the agent: its ports "
			"cannot be 0 in [session]\n"},
		{"[something-else]\n",
			"test: F:1: unknown section [something-else]; blkin-agent.conf(5) lists them\n"},
		{"server = a:1\n", "test: F:1: `server` is set before the first [section]\n"},
		{"[output]\n\nserver\n",
			"test: F:3: this is neither a [section], nor `key = value`, nor a # comment\n"},
		{"[output\n", "test: F:1: a section is written [name], on a line of its own\n"},
		{"[output]\nserver = localhost\n",
			"test: F:2: `server = localhost` is not valid: it must be HOST:PORT, such as "
			"127.0.0.1:9410 or [::1]:9410, or up to 8 different ones, separated by commas\n"},
		{"[output]\nserver = h:99999\n",
			"test: F:2: `server = h:99999` is not valid: it must be HOST:PORT, such as "
			"127.0.0.1:9410 or [::1]:9410, or up to 8 different ones, separated by commas\n"},
		{"[output]\nserver = a:1, b:2, a:1\n",
			"test: F:2: `server = a:1, b:2, a:1` is not valid: it must be HOST:PORT, such as "
			"127.0.0.1:9410 or [::1]:9410, or up to 8 different ones, separated by commas\n"},
		{"[output]\nserver = http://a:9411/api/v1/spans\n",
			"test: F:2: `server = http://a:9411/api/v1/spans` is a URL: write HOST:PORT here, "
			"such as collector:9411, and `type = http` (with `path`, and `tls = yes` for "
			"https)\n"},
		{"[output]\ntype = pulsar\n", "test: F:2: `type = pulsar` is not valid: it must be scribe, "
					      "http, otlp, file, kafka or none\n"},
		{"[output]\ntype = http\nformat = otlp\n",
			"test: F:3: `format = otlp` is for `type = kafka`; over HTTP, set `type = otlp` "
			"instead, in [output]\n"},
		{"[output]\ntype = kafka\nsasl = plain\nsasl-user = u\n",
			"test: F:4: `sasl` needs `sasl-user` and `sasl-password-file` in [output]\n"},
		{"[output]\ntype = kafka\nsasl-user = u\nsasl-password-file = /f\n",
			"test: F:4: `sasl-user` and `sasl-password-file` need `sasl` in [output]\n"},
		{"[output]\ntype = http\ncompression = 1\n",
			"test: F:3: `compression = 1` is not valid: it must be gzip, zstd or none\n"},
		{"[output]\ntags = a\n", "test: F:2: `tags = a` is not valid at `a`: it must be KEY=VALUE, "
					 "several separated by commas\n"},
		{"[output]\ntags = a=1, b c=2\n",
			"test: F:2: `tags = a=1, b c=2` is not valid at ` b c=2`: a key has 1 to 64 letters, "
			"digits, `_`, `.`, `-` and `/`\n"},
		{"[output]\ntags = a=1,a=2\n",
			"test: F:2: `tags = a=1,a=2` is not valid at `a=2`: its key is there twice\n"},
		{"[output]\ntags = sa=1\n", "test: F:2: `tags = sa=1` is not valid at `sa=1`: Zipkin uses "
					    "`lc`, `sa`, `ca` and `ma` itself\n"},
		{"[output]\ntags = a=\n",
			"test: F:2: `tags = a=` is not valid at `a=`: a value has 1 to 256 ASCII characters, "
			"without commas, quotes, backslashes and control characters\n"},
		{"[output]\nkeep = 10\n",
			"test: F:2: `keep = 10` is not valid: it must be a share of the traces, such as 1/1 "
			"(all) or 1/10\n"},
		{"[output]\nkeep = 1/0\n",
			"test: F:2: `keep = 1/0` is out of range: it can be 1/1 to 1/1000000\n"},
		{"[output]\nkeep = 1/ 5\n", "test: F:2: `keep = 1/ 5` is not valid: it must be a share of "
					    "the traces, such as 1/1 "
					    "(all) or 1/10\n"},
		{"[output]\ntls = true\n", "test: F:2: `tls = true` is not valid: it must be no or yes\n"},
		{"[output]\npath = spans\n", "test: F:2: `path = spans` is not valid: it must be a path of "
					     "a URL, such as /api/v1/spans\n"},
		{"[output]\npath = /a b\n", "test: F:2: `path = /a b` is not valid: it must be a path of a "
					    "URL, such as /api/v1/spans\n"},
		{"[output]\ntls = yes\ntls-certificate = /a\n",
			"test: F:3: `tls-certificate` and `tls-key` go together in [output]\n"},
		{"[output]\ntls-ca = /a\n", "test: F:2: TLS files need `tls = yes` in [output]\n"},
		{"[output]\nwindow = many\n",
			"test: F:2: `window = many` is not valid: it must be a whole number\n"},
		{"[output]\nwindow = 0\n", "test: F:2: `window = 0` is out of range: it can be 1 to 1000\n"},
		{"[spans]\nmax-pending = 2G\n",
			"test: F:2: `max-pending = 2G` is out of range: it can be 64K to 1G\n"},
		{"[output]\nwindow = -1\n",
			"test: F:2: `window = -1` is not valid: it must be a whole number\n"},
		{"[output]\ntimeout = 5\n", "test: F:2: `timeout = 5` is not valid: it must be a time, such "
					    "as 200ms, 5s or 1min\n"},
		{"[output]\ntimeout = 1us\n",
			"test: F:2: `timeout = 1us` is out of range: it can be 10ms to 10min\n"},
		{"[session]\nmemory = 99999999999999999999G\n",
			"test: F:2: `memory = 99999999999999999999G` is not valid: it must be a size, such "
			"as 64K, 16M or 1G\n"},
		{"[session]\nlevel = chatty\n",
			"test: F:2: `level = chatty` is not valid: it must be emerg, alert, crit, "
			"err, warning, notice, info or debug\n"},
		{"[session]\nname = a/b\n", "test: F:2: `name = a/b` is not valid: it must be a name of "
					    "letters, digits, `_`, `.` and `-`\n"},
		{"[session]\nname = a\nname = b\n", "test: F:3: `name` is already set in line 2\n"},
		{"[agent]\nsocket = /a\xff\n", "test: F:2: this is not UTF-8 text: byte 0xff\n"},
		{"[agent]\n\nsocket = /a\x01\n", "test: F:3: this is not UTF-8 text: byte 0x01\n"},
		{"[agent]\nsocket = /a\\nb\n", "test: F:2: `socket = /a?b` is not valid: it must be text "
					       "without control characters\n"},
		{"[agent]\nsocket = /a\\q\n",
			"test: F:2: the value of `socket` has an unknown escape: a backslash is "
			"written \\\\\n"},
		{"[session]\nreader-memory = 32M\n[spans]\nmax-pending = 17M\n",
			"test: F:4: `reader-memory` must be twice `max-pending` of [spans] at least, in "
			"[session]\n"},
		{"[output]\nretry-min = 10s\nretry-max = 1s\n",
			"test: F:3: `retry-min` is larger than `retry-max` in [output]\n"},
		{"[output]\nbatch-size = 1M\nqueue-size = 1M\n",
			"test: F:3: `queue-size` must hold two batches at least: twice `batch-size` in "
			"[output]\n"},
		{"[output]\nbatch-size = 4K\n[spool]\nmax-size = 1023K\n",
			"test: F:4: `max-size` in [spool] must be 0 (no spool), or at least 1M and eight "
			"times `batch-size` in [output]\n"},
		{"[output]\nbatch-size = 256K\n[spool]\nmax-size = 2047K\n",
			"test: F:4: `max-size` in [spool] must be 0 (no spool), or at least 1M and eight "
			"times `batch-size` in [output]\n"},
		{"[output]\nretry-max = 1ms\nretry-min = 1s\n",
			"test: F:3: `retry-min` is larger than `retry-max` in [output]\n"},
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
	ck_assert(g_str_has_suffix(said, "xxx...` is not valid: it must be a whole number\n"));
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
	ck_assert_ptr_nonnull(strstr(text, "\n# F.d/20-b.conf:2\nserver = c:1\ncategory = zipkin\n"));
	ck_assert_ptr_nonnull(strstr(text, "\n# F.d/10-a.conf:4\nwindow = 4\n"));
	config_free(&config);

	/* mistakes have the drop-in's name and line, also those of two keys together; so has a key that
	 * stands twice */
	g_free(write_file("agent.conf.d/30-c.conf", "[output]\nretry-min = 1h\nwindow = 1\nwindow = 2\n"));
	ck_assert_int_eq(read_path(&config, path), -1);
	ck_assert_str_eq(said,
		"test: F.d/30-c.conf:2: `retry-min = 1h` is not valid: it must be a time, such as 200ms, "
		"5s or 1min\n"
		"test: F.d/30-c.conf:4: `window` is already set in line 3\n");
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

/* What is printed is a configuration, and the same one. */
START_TEST(test_print_and_read)
{
	struct config config, again;
	g_autofree char *first = NULL, *second = NULL;

	ck_assert_int_eq(
		read_text(&config,
			"[agent]\nsocket = \\s/a\\\\b\nstop-timeout = 0s\n[session]\nlevel = warning\n"
			"memory = 1025K\n[output]\ntimeout = 90s\n[output b]\ntype = http\nserver = "
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
	tcase_add_test(tests, test_mistakes);
	tcase_add_test(tests, test_files_that_are_none);
	tcase_add_test(tests, test_drop_ins);
	tcase_add_test(tests, test_drop_ins_that_are_none);
	tcase_add_test(tests, test_reference_file);
	tcase_add_test(tests, test_print_and_read);
	return run_cases("config", tests);
}
