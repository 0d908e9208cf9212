/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `blkin report`: all that somebody needs who is to find out from afar what is wrong on this node, in one
 * archive. What is in it is listed before it is written, and secrets are taken out.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>
#include <glib/gstdio.h>
#include <sysexits.h>

#include "base/human.h"
#include "base/log.h"
#include "commands.h"
#include "config/config.h"
#include "options.h"
#include "which_agent.h"

static const char help[] =
	"Usage: blkin report [--output FILE] [--yes] [--user] [--config FILE | --socket PATH]\n"
	"\n"
	"Gather what is needed to find out from afar what is wrong on this node: the agent's status,\n"
	"spans by name, configuration and journal, LTTng's sessions, versions, disks and memory. Passwords "
	"and the\n"
	"page's token are taken out. Everything is listed, and then written into one archive.\n"
	"\n"
	"  --output FILE  write this archive (blkin-report-NODE-TIME.tar.gz, here)\n"
	"  --yes          do not ask before it is written\n" WHICH_AGENT_HELP "\n"
	"Run it as root to have all of it. Names of services, spans, users and servers are in it.\n";

/* No part is longer: its end is kept. */
#define PART_MAX "1048576"
/* Nor takes longer, in seconds: what it printed until then is kept. What cannot even be killed, as it waits
 * for a disk, is given up a little later. */
#define PART_SECONDS "20"
#define GIVEN_UP_SECONDS "25"

/* How it ended, if not well: 124 is timeout's code, and 137 also that of what it had to kill. Less is what
 * commands have to say. */
#define SAY_END                                                                                              \
	"code=$?; if [ $code = 124 ] || { [ $code = 137 ] && [ $(($(date +%%s) - begun)) -ge " PART_SECONDS  \
	" ]; }; then echo \"ended here, as it took longer than " PART_SECONDS                                \
	" s\"; elif [ $code -gt 124 ]; then echo \"ended here, with code $code\"; fi"

/*
 * What each part is, and the shell's command for it: the arguments name the agent, $BLKIN is this program,
 * $CONFIG the configuration, and $MANAGER systemctl's and journalctl's option for whose units they are.
 */
static const struct part {
	const char *file, *what, *command;
} parts[] = {
	{"status.txt", "how the agent is doing", "\"$BLKIN\" status \"$@\""},
	{"status.json", "the same, for programs", "\"$BLKIN\" status --json \"$@\""},
	{"top.json", "spans by service and name", "\"$BLKIN\" top --once --json \"$@\""},
	{"validate.txt", "whether the configuration can be used",
		"shift $#; [ ! -e \"$CONFIG\" ] || set -- \"$CONFIG\"; \"$BLKIN\" validate $MANAGER \"$@\""},
	{"settings.txt", "every setting, and where it was set",
		"shift $#; [ ! -e \"$CONFIG\" ] || set -- \"$CONFIG\"; \"$BLKIN\" validate --print $MANAGER "
		"\"$@\""},
	{"config.txt", "the configuration's files",
		"for file in \"$CONFIG\" \"$CONFIG\".d/*.conf; do [ -e \"$file\" ] || continue; echo \"# "
		"$file\"; cat \"$file\"; done"},
	{"journal.txt", "the last 5,000 lines of the agent's and LTTng's daemons",
		"journalctl $MANAGER --no-pager -o short-iso-precise -n 5000 -u blkin-agent -u blkin-relayd "
		"-u lttng-sessiond"},
	{"units.txt", "the units' states",
		"systemctl $MANAGER --no-pager -l status blkin-agent blkin-relayd lttng-sessiond; systemctl "
		"$MANAGER show blkin-agent blkin-relayd | sed 's/^\\(Environment=\\).\\{1,\\}/\\1REMOVED/'"},
	{"lttng.txt", "LTTng's sessions, and the programs that it traces",
		"lttng --version; lttng list; lttng list | sed -n 's/^ *[0-9]*) \\(blkin[^ ]*\\).*/\\1/p' | "
		"while read -r session; do lttng list \"$session\"; done; ps -eLo user,pid,stat,comm | "
		"grep -E '^USER|-ust$'"},
	{"versions.txt", "versions of the packages, the kernel and Debian",
		"\"$BLKIN\" --version; uname -a; cat /etc/os-release; dpkg-query -W -f '${Package} "
		"${Version} ${Architecture} ${db:Status-Abbrev}\\n' '*blkin*' '*lttng*' '*babeltrace*' "
		"'librdkafka*' 'libevent*' 'libsqlite3*' 'libssl3*' 'libc6' 2>/dev/null"},
	{"disks.txt", "room on disks and in /dev/shm",
		"df -h; df -i; ls -lan /dev/shm /run/blkin /var/lib/blkin /var/lib/blkin/*"},
	{"node.txt", "processors, memory, load and limits",
		"nproc; uptime; cat /proc/meminfo /proc/pressure/*; cat /proc/cmdline; timedatectl; ps -eo "
		"pid,ppid,user,stat,pcpu,rss,nlwp,etime,args | grep -E 'PID|blkin|lttng'"},
};

/* In its order: what is matched, and what takes its place. */
static const struct secret {
	const char *pattern, *instead;
} secrets[] = {
	/* what a query says may be a key, whatever it is called; & is escaped in JSON, or on a page */
	{"((?:[?&]|\\\\u0026|&amp;)[^\\s=\"&<>]+=)[^\\s\"&<>\\\\]+", "\\1REMOVED"},
	/* who and the password before a host, in an address of any kind; a password may have a / or an @ */
	{"(://[^\\s/@:\"]*:)[^\\s\"]+@", "\\1REMOVED@"},
	{"(://)[^\\s/@:\"]+@", "\\1REMOVED@"},
	{"([\\s\"'=,`(]|^)([^\\s\"'=,`(/@:]+:)(?!//)[^\\s\"]+@(?=[\\w\\[])", "\\1\\2REMOVED@"},
	{"([\\s\"'=,`(]|^)[^\\s\"'=,`(/@:]+@(?=[\\w.-]+:\\d|\\[)", "\\1REMOVED@"},
	{"(?im)^([^\\n=:]*(?:password|passwd|secret|token|authorization|api-key)(?![^\\n=:]*-file)[^\\n=:]*[="
	 ":][ \\t]*)\\S.*$",
		"\\1REMOVED"},
};

struct report {
	char *folder; /* for the time being */
	char *name;   /* of the folder in the archive */
	char *file;   /* the archive */
	char **words; /* of a command, its last ones name the agent */
	char **environment;
};

static char *without_secrets(const char *text, gsize size)
{
	char *clean = g_strndup(text, size);

	for (size_t i = 0; i < G_N_ELEMENTS(secrets); i++) {
		GRegex *regex = g_regex_new(secrets[i].pattern, G_REGEX_RAW, 0, NULL);
		char *next = g_regex_replace(regex, clean, -1, 0, secrets[i].instead, 0, NULL);

		g_regex_unref(regex);
		g_free(clean);
		clean = next ? next : g_strdup("left out, as it cannot be told what of it is secret\n");
	}
	return clean;
}

/* What the part's command prints, and what it says is wrong. */
static char *gather(const struct report *report, const struct part *part)
{
	char *command = g_shell_quote(part->command);
	char *script = g_strdup_printf("{ begun=$(date +%%s); timeout -k 2 " PART_SECONDS
				       " sh -c %s sh \"$@\"; " SAY_END "; } 2>&1 | tail -c " PART_MAX,
		command);
	char *out = NULL, *clean;
	GError *error = NULL;

	report->words[4] = script;
	if (!g_spawn_sync(NULL, report->words, report->environment,
		    G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out, NULL, NULL, &error)) {
		out = g_strdup_printf("cannot be had: %s\n", error->message);
		g_clear_error(&error);
	}
	clean = without_secrets(out, strlen(out));
	g_free(script);
	g_free(command);
	g_free(out);
	return clean;
}

/* Writes one, and lists it. */
static bool add(const struct report *report, const struct part *part)
{
	char *text = gather(report, part), size[HUMAN_MAX];
	char *path = g_build_filename(report->folder, report->name, part->file, NULL);
	GError *error = NULL;
	bool good = g_file_set_contents(path, text, -1, &error);

	if (good)
		printf("  %-14s %9s  %s\n", part->file, human_size(size, strlen(text)), part->what);
	else
		log_error("%s", error->message);
	fflush(stdout);
	g_clear_error(&error);
	g_free(path);
	g_free(text);
	return good;
}

static bool is_wanted(const struct report *report, bool yes)
{
	char answer[16];

	if (yes || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return true;
	printf("\nWrite these into %s? [Y/n] ", report->file);
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) && strchr("yY\n", answer[0]);
}

static bool pack(const struct report *report)
{
	char *command[] = {"tar", "-C", report->folder, "-czf", report->file, report->name, NULL};
	char *said = NULL;
	int status = 0;
	GError *error = NULL;
	bool good = g_spawn_sync(NULL, command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, &said, &status,
			    &error) &&
		    g_spawn_check_wait_status(status, NULL);

	if (!good)
		log_error("cannot write %s: %s", report->file, error ? error->message : g_strstrip(said));
	else
		printf("\n%s is written: look through it before you pass it on\n", report->file);
	g_clear_error(&error);
	g_free(said);
	return good;
}

static void remove_folder(const struct report *report)
{
	char *inner = g_build_filename(report->folder, report->name, NULL);

	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
		char *path = g_build_filename(inner, parts[i].file, NULL);

		g_unlink(path);
		g_free(path);
	}
	g_rmdir(inner);
	g_rmdir(report->folder);
	g_free(inner);
}

static int write_report(const struct report *report, bool yes)
{
	char *inner = g_build_filename(report->folder, report->name, NULL);
	bool good = g_mkdir(inner, 0700) == 0;

	for (size_t i = 0; good && i < G_N_ELEMENTS(parts); i++)
		good = add(report, &parts[i]);
	if (good && is_wanted(report, yes))
		good = pack(report);
	remove_folder(report);
	g_free(inner);
	return good ? EX_OK : EXIT_FAILURE;
}

static char **words_for(const struct which_agent *which)
{
	GPtrArray *words = g_ptr_array_new();

	for (const char *const *word =
			(const char *const[]){"timeout", GIVEN_UP_SECONDS, "sh", "-c", "", "sh", NULL};
		*word; word++)
		g_ptr_array_add(words, (char *)*word);
	if (which->user)
		g_ptr_array_add(words, "--user");
	if (which->file) {
		g_ptr_array_add(words, "--config");
		g_ptr_array_add(words, (char *)which->file);
	}
	if (which->socket) {
		g_ptr_array_add(words, "--socket");
		g_ptr_array_add(words, (char *)which->socket);
	}
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_free(words, FALSE);
}

static char **environment_for(const struct which_agent *which)
{
	char **environment = g_get_environ(), *own = g_file_read_link("/proc/self/exe", NULL);
	char *config = which->file || !which->user
			       ? g_strdup(which->file ? which->file : CONFIG_DEFAULT_FILE)
			       : g_build_filename(g_get_user_config_dir(), "blkin", "agent.conf", NULL);

	environment = g_environ_setenv(environment, "BLKIN", own ? own : "blkin", TRUE);
	environment = g_environ_setenv(environment, "CONFIG", config, TRUE);
	environment = g_environ_setenv(environment, "MANAGER", which->user ? "--user" : "", TRUE);
	environment = g_environ_setenv(environment, "LC_ALL", "C.UTF-8", TRUE);
	g_free(config);
	g_free(own);
	return environment;
}

static int report_on(const struct which_agent *which, const char *file, bool yes)
{
	GDateTime *now = g_date_time_new_now_local();
	char *time = g_date_time_format(now, "%Y%m%d-%H%M%S");
	GError *error = NULL;
	struct report report = {.words = words_for(which), .environment = environment_for(which)};
	int code = EXIT_FAILURE;

	umask(077);
	report.name = g_strdup_printf("blkin-report-%s-%s", g_get_host_name(), time);
	report.file = file ? g_strdup(file) : g_strconcat(report.name, ".tar.gz", NULL);
	report.folder = g_dir_make_tmp("blkin-report-XXXXXX", &error);
	if (report.folder)
		code = write_report(&report, yes);
	else
		log_error("cannot make a folder for the report: %s", error->message);
	g_clear_error(&error);
	g_free(report.folder);
	g_free(report.file);
	g_free(report.name);
	g_free(report.words);
	g_strfreev(report.environment);
	g_free(time);
	g_date_time_unref(now);
	return code;
}

int command_report(int argc, char **argv)
{
	static const struct option options[] = {{"output", required_argument, NULL, 'o'},
		{"yes", no_argument, NULL, 'y'}, WHICH_AGENT_OPTIONS, {0}};
	struct which_agent which = {0};
	const char *file = NULL;
	bool yes = false;
	int option;

	log_init("blkin report");
	while ((option = options_next(argc, argv, options, help)) >= 0) {
		if (option == 'o')
			file = optarg;
		else if (option == 'y')
			yes = true;
		else
			which_agent_option(&which, option);
	}
	if (option != OPTIONS_END)
		return option == OPTIONS_HELP ? EX_OK : EX_USAGE;
	if (options_no_arguments(argc, argv) == OPTIONS_WRONG)
		return EX_USAGE;
	return report_on(&which, file, yes);
}
