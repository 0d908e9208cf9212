/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* pipe2 */
#include "needs.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/secret.h"
#include "config/keys.h"
#include "config/outputtype.h"
#include "net/httpheaders.h"
#include "net/tls.h"
#include "net/unixsocket.h"
#include "output/sharing.h"
#include "output/uplink/uplinktype.h"
#include "session/beside.h"
#include "status/port.h"
#include "tryfilter.h"
#include "unit.h"

/* So long LTTng's session daemon has to answer; it may wait for programs that are stopped. */
#define LTTNG_LIMIT_MS 10000
#define NO_ANSWER "LTTng's session daemon does not answer"

struct trial {
	const struct config *config;
	const struct unit *unit;
	const char *as; /* " as user NAME", or "" */
	bool runs;      /* an agent, which has the port */
	bool unmet;
	bool hopeless; /* what the agent does not start without is among it */
};

/* "FILE:LINE: " of where a key was set, or ""; the caller's. */
static char *place_of(const struct config_origin *origins, const char *section, const char *key)
{
	const struct config_origin *origin = &origins[config_key_find(section, key) - config_keys];

	return origin->file ? g_strdup_printf("%s:%u: ", origin->file, origin->line) : g_strdup("");
}

static void miss(struct trial *trial, const char *place, const char *what, const char *path, const char *why)
{
	log_error("%s%s cannot be used%s: %s: %s", place, what, trial->as, path, why);
	trial->unmet = true;
}

/* Why @folder cannot be used, and what to do if it is not there, or not that user's; the caller's. */
static char *describe(const struct trial *trial, int error, const char *folder)
{
	const bool packaged = !strcmp(folder, "/run/blkin");
	const struct passwd *user = *trial->as ? getpwuid(geteuid()) : NULL;

	if (error == EACCES && user && !strcmp(folder, trial->config->state_directory))
		return g_strdup_printf("%s: it has to be that user's: chown -R %s: %s", g_strerror(error),
			user->pw_name, folder);
	if (error != ENOENT)
		return g_strdup(g_strerror(error));
	return g_strdup_printf("%s: make the folder first: mkdir -p %s%s", g_strerror(error), folder,
		packaged ? " (where the packages are installed: systemd-tmpfiles --create)" : "");
}

/* A secret in a file or folder that everybody can reach. */
static bool everybody_reads(const char *path)
{
	char *at = g_strdup(path), *parent;
	struct stat is;
	bool reads = stat(at, &is) == 0 && is.st_mode & S_IROTH;

	while (reads && at[strcspn(at, "/")] && strcmp(at, "/") != 0) {
		parent = g_path_get_dirname(at);
		g_free(at);
		at = parent;
		reads = stat(at, &is) == 0 && is.st_mode & S_IXOTH;
	}
	g_free(at);
	return reads;
}

/* The child that tries this as another user has an output of its own. */
static void note(const char *format, ...) G_GNUC_PRINTF(1, 2);
static void note(const char *format, ...)
{
	va_list values;

	va_start(values, format);
	fputs("note: ", stdout);
	vprintf(format, values);
	putchar('\n');
	fflush(stdout);
	va_end(values);
}

static void note_secrets(const struct output_config *output)
{
	const struct {
		const char *key, *path;
	} secrets[] = {{"headers-file", output->headers_file}, {"tls-key", output->tls_key},
		{"proxy-password-file", output->proxy_secret_file},
		{"sasl-password-file", output->sasl_password_file}};

	for (size_t i = 0; i < G_N_ELEMENTS(secrets) && config_output_delivers(output); i++)
		if (*secrets[i].path && everybody_reads(secrets[i].path))
			note("everybody can read `%s = %s` of [%s]: only the agent's user should",
				secrets[i].key, secrets[i].path, output->section);
}

/* Where the key says it, of which one sentence says what is wrong. */
static void complain(
	struct trial *trial, const struct output_config *output, const char *key, const char *why)
{
	g_autofree char *place = place_of(output->origins, "output", key);

	log_error("%s[%s]%s: %s", place, output->section, trial->as, why);
	trial->unmet = true;
}

/* TLS */

static void try_tls(struct trial *trial, const struct output_config *output)
{
	const struct tls_options options = {output->tls_ca, output->tls_certificate, output->tls_key};
	static const char *const keys[] = {"tls-ca", "tls-certificate", "tls-key"};
	const char *const files[] = {output->tls_ca, output->tls_certificate, output->tls_key}, *key = "tls";
	struct tls *tls;
	char why[512];

	if (!config_output_delivers(output) || !output->tls)
		return;
	for (size_t i = 0; i < G_N_ELEMENTS(files); i++) {
		const char *hidden = *files[i] ? unit_hides(trial->unit, files[i]) : NULL;
		g_autofree char *place = place_of(output->origins, "output", keys[i]);

		if (hidden)
			miss(trial, place, "the TLS file", files[i], hidden);
	}
	tls = tls_create(&options, false, why, sizeof(why));
	if (!tls) {
		for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
			key = g_str_has_prefix(why + 1, keys[i]) ? keys[i] : key;
		complain(trial, output, key, why);
	}
	tls_free(tls);
}

/* Headers */

static void try_headers(struct trial *trial, const struct output_config *output)
{
	g_autofree char *place = NULL;
	struct buffer headers = {0};
	const char *hidden;
	char why[512];

	if (!config_output_delivers(output) || !*output->headers_file)
		return;
	hidden = unit_hides(trial->unit, output->headers_file);
	place = place_of(output->origins, "output", "headers-file");
	if (hidden)
		miss(trial, place, "the file of headers", output->headers_file, hidden);
	if (!httpheaders_read(output->headers_file, &headers, why, sizeof(why)))
		complain(trial, output, "headers-file", why);
	else if (headers.size == 0)
		note("`headers-file = %s` of [%s] has no header: none is sent", output->headers_file,
			output->section);
	buffer_free(&headers);
}

/* A password that is in a file. */
static void try_secret(
	struct trial *trial, const struct output_config *output, const char *key, const char *path)
{
	g_autofree char *place = place_of(output->origins, "output", key);
	const char *hidden;
	char secret[SECRET_MAX], why[512];

	if (!config_output_delivers(output) || !*path)
		return;
	hidden = unit_hides(trial->unit, path);
	if (hidden)
		miss(trial, place, "the password's file", path, hidden);
	if (!secret_read(path, secret, why, sizeof(why)))
		complain(trial, output, key, why);
	explicit_bzero(secret, sizeof(secret));
}

/* The share of the traces. */
static void try_budget(struct trial *trial, const struct output_config *output)
{
	const char *path = output->budget_file, *hidden;
	g_autofree char *place = NULL;
	double part;
	char why[512];

	if (!config_output_delivers(output) || !*path)
		return;
	hidden = unit_hides(trial->unit, path);
	place = place_of(output->origins, "output", "budget-file");
	if (hidden)
		miss(trial, place, "the file of the share", path, hidden);
	if (!sharing_read_file(path, &part, why, sizeof(why)))
		complain(trial, output, "budget-file", why);
}

/* What the type loads by itself. */
static void try_library(struct trial *trial, const struct output_config *output)
{
	const struct uplink_type *type = uplink_types[output->type];
	char why[512];

	if (type->check_library && !type->check_library(why, sizeof(why)))
		complain(trial, output, "type", why);
}

/* Files and folders */

static int access_error(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) == 0 ? 0 : errno;
}

/* Those who validate a file have read it; the agent's user may not be able to. */
static void try_files(struct trial *trial)
{
	const GPtrArray *files = trial->config->files;

	for (guint i = 0; i < files->len; i++) {
		const char *path = g_ptr_array_index(files, i);
		int error = access_error(path, R_OK);

		if (error) {
			log_error("%s: cannot be read%s, so the agent does not start: %s", path, trial->as,
				g_strerror(error));
			trial->unmet = trial->hopeless = true;
		}
	}
}

/* What a user's agent makes, with what is above it: as access_error, of the first folder that is there. */
static int make_error(const char *path)
{
	g_autofree char *parent = g_path_get_dirname(path);
	int error = access_error(path, W_OK | X_OK);

	return error == ENOENT && strcmp(parent, path) != 0 ? make_error(parent) : error;
}

/* @error of an attempt to use the folder; what the unit or a user's agent makes need not be there yet. */
static bool try_folder(struct trial *trial, const char *name, const char *path, const char *folder, int error)
{
	const char *kept = unit_protects(trial->unit, path);
	g_autofree char *what = g_strdup_printf("`%s` of [agent]", name);
	g_autofree char *place = place_of(trial->config->origins, "agent", name), *why = NULL;

	if (error == ENOENT && trial->config->user)
		error = make_error(folder);
	else if (error == ENOENT && unit_makes(trial->unit, folder))
		error = 0;
	why = describe(trial, error, folder);
	if (error || kept)
		miss(trial, place, what, path, error ? why : kept);
	return !error;
}

/* It is made if its parent is there; what is in it has to be the agent's, too. */
static void try_state(struct trial *trial)
{
	const char *path = trial->config->state_directory;
	g_autofree char *checkpoint = g_build_filename(path, "checkpoint.0", NULL);
	int error = access_error(path, R_OK | W_OK | X_OK);

	if (error == ENOENT)
		error = mkdir(path, 0750) == 0 && rmdir(path) == 0 ? 0 : errno;
	else if (!error && access_error(checkpoint, R_OK | W_OK) != ENOENT)
		error = access_error(checkpoint, R_OK | W_OK);
	try_folder(trial, "state-directory", path, path, error);
}

/* All that is to do for a directory that the agent cannot write into, at once; the caller's. */
static char *describe_directory(const struct trial *trial, const char *path, int error, const char *kept)
{
	const char *user = trial->unit->user ? trial->unit->user : "";
	GString *why = g_string_new(error ? g_strerror(error) : "the unit may not write there");

	if (unit_hides(trial->unit, path) || (!error && !kept)) {
		g_string_assign(why, kept ? kept : "");
		return g_string_free(why, FALSE);
	}
	if (error == ENOENT && (trial->config->user || !*user))
		g_string_append_printf(why, ": make the folder first: mkdir -p %s", path);
	else if (error && error != ENOTDIR && *user && !trial->config->user)
		g_string_append_printf(why, ": install -d -o %s -g %s -m 2750 %s", user, user, path);
	if (kept)
		g_string_append_printf(why,
			"%s allow it in the unit: systemctl edit blkin-agent, with ReadWritePaths=%s below "
			"[Service]; then systemctl restart blkin-agent",
			error ? ";" : ":", path);
	return g_string_free(why, FALSE);
}

/* Of an output of files: one below the state directory is made. */
static void try_directory(struct trial *trial, const struct output_config *output)
{
	const char *path = config_output_place(output), *kept = unit_protects(trial->unit, path);
	g_autofree char *what = g_strdup_printf("`directory` of [%s]", output->section);
	g_autofree char *place = place_of(output->origins, "output", "directory"), *why = NULL;
	g_autofree char *inside = g_build_filename(path, ".", NULL); /* which a file has not */
	int error = access_error(inside, R_OK | W_OK | X_OK);

	if (!output_type_has_directory(output_type_of(output)))
		return;
	if (error == ENOENT && output->own_directory)
		error = 0;
	why = describe_directory(trial, path, error, kept);
	if (error || kept)
		miss(trial, place, what, path, why);
}

static void try_socket(struct trial *trial)
{
	const char *path = trial->config->socket;
	g_autofree char *folder = g_path_get_dirname(path);
	int error = access_error(folder, W_OK | X_OK);

	if (strlen(path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		error = ENAMETOOLONG;
	if (*path && !try_folder(trial, "socket", path, folder, error))
		trial->hopeless = true;
}

/* The port */

/* Whether the ports may be the agent's own: it runs, or has no socket to ask it by. */
static bool may_run(const struct config *config)
{
	return !*config->socket || unixsocket_answers(config->socket);
}

static void try_port(struct trial *trial, const char *section, const char *key, const char *address)
{
	g_autofree char *place = place_of(trial->config->origins, section, key),
			*what = g_strdup_printf("`%s` of [%s]", key, section);
	char why[256];

	if (*address && !trial->runs && !port_try(address, why, sizeof(why)))
		miss(trial, place, what, address, why);
}

/* A socket in the file system would be left behind by a trial: it is the folder that matters. */
static void try_input(struct trial *trial, const char *key, const char *path)
{
	g_autofree char *place = place_of(trial->config->origins, "input", key), *why = NULL,
			*folder = g_path_get_dirname(path), *what = g_strdup_printf("`%s` of [input]", key);
	int error;

	if (*path != '/') {
		try_port(trial, "input", key, path);
		return;
	}
	error = access_error(folder, W_OK | X_OK);
	if (error == ENOENT && unit_makes(trial->unit, folder))
		error = 0;
	why = describe(trial, error, folder);
	if (error && !trial->runs)
		miss(trial, place, what, path, why);
}

/* Of [events]: the agent does without. */
static void try_filter(struct trial *trial)
{
	g_autofree char *place = place_of(trial->config->origins, "events", "filter");
	char why[256];

	if (!filter_try(trial->config->event_filter, why, sizeof(why)))
		miss(trial, place, "`filter` of [events]", trial->config->event_filter, why);
}

/* Takes @said. */
static void say_unknown(struct trial *trial, const char *key, GPtrArray *said)
{
	g_autofree char *place = place_of(trial->config->origins, "kernel", key);

	for (guint i = 0; i < said->len; i++)
		log_error("%s%s", place, (const char *)said->pdata[i]);
	trial->unmet |= said->len > 0;
	g_ptr_array_unref(said);
}

/* What the kernel does not have of [kernel], if there is a tracer to be asked: all else is recorded. */
static void try_kernel(struct trial *trial)
{
	struct beside_unknown unknown = beside_find_unknown(trial->config);

	say_unknown(trial, "events", unknown.events);
	say_unknown(trial, "syscalls", unknown.syscalls);
	say_unknown(trial, "functions", unknown.functions);
}

/* Waits until the child ends, whose end of the pipe this is; false if it has to be killed. */
static bool await_child(pid_t child, int alive, int *status)
{
	struct pollfd ends = {.fd = alive};
	bool in_time = poll(&ends, 1, LTTNG_LIMIT_MS) == 1;

	if (!in_time)
		kill(child, SIGKILL);
	return waitpid(child, status, 0) == child && in_time;
}

/* LTTng's library has no time-outs, so it is used in a child process: the agent starts without its daemon.
 * Returns whether it came to an end. */
static bool try_apart(struct trial *trial, void (*try)(struct trial *trial), const char *what)
{
	struct trial of_child = *trial;
	int pipes[2] = {-1, -1}, status = 0;
	pid_t child = pipe2(pipes, O_CLOEXEC) == 0 ? fork() : -1;
	bool done;

	of_child.unmet = false;
	if (child == 0) {
		try(&of_child);
		_exit(of_child.unmet);
	}
	if (pipes[1] >= 0)
		close(pipes[1]);
	done = child > 0 && await_child(child, pipes[0], &status) && WIFEXITED(status);
	if (done)
		trial->unmet |= WEXITSTATUS(status) != 0;
	else
		note("%s is not tried: %s", what, child > 0 ? NO_ANSWER : "no process can be made");
	if (pipes[0] >= 0)
		close(pipes[0]);
	return done;
}

static void try_lttng(struct trial *trial)
{
	const struct config *config = trial->config;
	bool asks_kernel = config_reads_kernel(config) || config_flies(config);
	bool answers = !*config->event_filter || try_apart(trial, try_filter, "`filter` of [events]");

	if (asks_kernel && answers)
		try_apart(trial, try_kernel, "[kernel]");
	else if (asks_kernel)
		note("[kernel] is not tried: " NO_ANSWER);
}

/* Whose trial it is */

static enum needs try_all(const struct config *config, const struct unit *unit, const char *as, bool runs)
{
	struct trial trial = {.config = config, .unit = unit, .as = as, .runs = runs};

	try_files(&trial);
	for (guint i = 0; i < config->outputs->len; i++) {
		const struct output_config *output = g_ptr_array_index(config->outputs, i);

		note_secrets(output);
		try_tls(&trial, output);
		try_headers(&trial, output);
		try_budget(&trial, output);
		try_secret(&trial, output, "proxy-password-file", output->proxy_secret_file);
		try_library(&trial, output);
		try_secret(&trial, output, "sasl-password-file", output->sasl_password_file);
		try_directory(&trial, output);
	}
	try_lttng(&trial);
	try_state(&trial);
	try_socket(&trial);
	try_port(&trial, "agent", "http", config->http);
	for (size_t i = 0; i < INPUTS; i++)
		try_input(&trial, input_keys[i], config->input[i]);
	return trial.hopeless ? NEEDS_HOPELESS : trial.unmet ? NEEDS_UNMET : NEEDS_MET;
}

static enum needs try_as(const struct config *config, const struct unit *unit, const struct passwd *user)
{
	g_autofree char *as = g_strdup_printf(" as user %s", user->pw_name);
	bool runs = may_run(config); /* one of root's answers root only */
	pid_t child;
	int status;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		if (initgroups(user->pw_name, user->pw_gid) != 0 || setgid(user->pw_gid) != 0 ||
			setuid(user->pw_uid) != 0)
			_exit(NEEDS_UNTRIED);
		_exit((int)try_all(config, unit, as, runs));
	}
	if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
		return NEEDS_UNTRIED;
	return (enum needs)WEXITSTATUS(status);
}

enum needs needs_try(const struct config *config)
{
	struct unit unit = {0};
	const struct passwd *user;
	enum needs needs;

	unit_read(&unit);
	user = !config->user && unit.user && *unit.user ? getpwnam(unit.user) : NULL;
	if (user && geteuid() == 0 && user->pw_uid != 0) {
		needs = try_as(config, &unit, user);
	} else if (user && geteuid() != user->pw_uid) {
		needs = NEEDS_UNTRIED;
	} else {
		/* the agent's user, whom the unit runs this as, sees all as the agent does */
		if (geteuid() != 0 || config->user)
			unit.strict = unit.no_home = unit.own_tmp = false;
		needs = try_all(config, &unit, "", may_run(config));
	}
	if (needs != NEEDS_MET && !config->user && geteuid() != 0 && !(user && geteuid() == user->pw_uid))
		note("this is about the system's agent: for one of your own, add --user");
	unit_free(&unit);
	return needs;
}
