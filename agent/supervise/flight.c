/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* close_range, prlimit */
#include "supervise/flight.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/thresholds.h"
#include "core/ledger.h"
#include "supervise/child.h"
#include "supervise/flightfolder.h"
#include "supervise/flightlate.h"
#include "supervise/flightrate.h"

#define PROGRAM "blkin"
#define NO_PROGRAM 127
#define CONFIG_FD 3
#define CONFIG_PATH "/proc/self/fd/3"
#define NICEST 19
#define OOM_SCORE "1000"
/* For so long a snapshot is waited for, and an answer; and so much processor time and memory that may take.
 */
#define SNAPSHOT_NS (60 * NS_PER_SECOND)
#define ANSWER_NS (120 * NS_PER_SECOND)
#define ANSWER_CPU_SECONDS 60
#define ANSWER_MEMORY (UINT64_C(512) << 20)
/* So much is left free on the disk beside the snapshot and copies of it. */
#define ROOM_BYTES (UINT64_C(64) << 20)
/* What the rings had when the span came is overwritten by now, most likely: the agent catches up, say. */
#define OLD_NS (60 * NS_PER_SECOND)
/* What the log says of failures, at most so often. */
#define LOG_NS (60 * NS_PER_SECOND)

/* What the configuration says. */
struct settings_of_flight {
	bool on, user;
	uint64_t per_minute, bytes, memory;
	char *folder;
	GPtrArray *thresholds;
	struct buffer text;
};

struct flight {
	pthread_mutex_t lock; /* guards this: */
	struct settings_of_flight *fresh;
	atomic_bool on; /* of the newest settings */

	struct settings_of_flight *settings;
	struct flight_late *late;
	struct flight_rate rate;
	enum { STAGE_IDLE, STAGE_SNAPSHOT, STAGE_ANSWER } stage;
	uint64_t number;   /* of the last snapshot, */
	uint64_t trace_id; /* and whose it is */
	int64_t begun;     /* this stage, CLOCK_MONOTONIC ns */
	pid_t pid;         /* of the answer's process; 0: none */
	int64_t logged;    /* when a failure was, the same; 0: never */
};

static void settings_free(struct settings_of_flight *settings)
{
	if (!settings)
		return;
	g_free(settings->folder);
	g_clear_pointer(&settings->thresholds, g_ptr_array_unref);
	buffer_free(&settings->text);
	g_free(settings);
}

struct flight *flight_create(const struct config *config)
{
	struct flight *flight = g_new0(struct flight, 1);
	g_autofree char *folder = g_build_filename(config->state_directory, FLIGHT_FOLDER, NULL);

	pthread_mutex_init(&flight->lock, NULL);
	flight->late = flight_late_create();
	flight->number = (uint64_t)clock_wall(); /* no reader of before answers for it */
	flight_folder_clean(folder);
	return flight;
}

void flight_configure(struct flight *flight, const struct config *config, const struct buffer *text)
{
	struct settings_of_flight *fresh = g_new0(struct settings_of_flight, 1);

	*fresh = (struct settings_of_flight){.on = config_flies(config),
		.user = config->user,
		.per_minute = config->flight_per_minute,
		.bytes = config->flight_size,
		.memory = config->memory,
		.folder = g_build_filename(config->state_directory, FLIGHT_FOLDER, NULL),
		.thresholds = thresholds_copy(config->thresholds)};
	buffer_put(&fresh->text, text->data, text->size);
	pthread_mutex_lock(&flight->lock);
	settings_free(flight->fresh);
	flight->fresh = fresh;
	flight->on = fresh->on;
	pthread_mutex_unlock(&flight->lock);
}

static void take_settings(struct flight *flight)
{
	struct settings_of_flight *fresh;

	pthread_mutex_lock(&flight->lock);
	fresh = g_steal_pointer(&flight->fresh);
	pthread_mutex_unlock(&flight->lock);
	if (!fresh)
		return;
	settings_free(flight->settings);
	flight->settings = fresh;
	flight->rate.per_minute = fresh->per_minute;
	flight_late_configure(flight->late, g_steal_pointer(&fresh->thresholds));
}

static bool is_on(const struct flight *flight)
{
	return flight->settings && flight->settings->on;
}

/* Late spans */

static void offer(struct flight *flight, const struct trait *trait, int64_t now)
{
	/* it is read again after a crash, say */
	if (flight_folder_has(flight->settings->folder, trait->trace_id))
		return;
	if (flight_rate_offer(&flight->rate, trait->trace_id, now) == FLIGHT_TOO_MANY)
		ledger_add(FLIGHT_REFUSED, 1);
}

void flight_see(struct flight *flight, const struct namer *namer, const struct items *spans)
{
	int64_t oldest;

	if (!flight->on || !is_on(flight))
		return;
	oldest = clock_wall() - OLD_NS;
	for (uint32_t i = 0; i < items_count(spans); i++)
		if (spans->traits[i].last_event >= oldest && flight_late_is(flight->late, namer, spans, i))
			offer(flight, &spans->traits[i], clock_monotonic());
}

/* One trace */

static void end(struct flight *flight)
{
	flight_folder_clean(flight->settings->folder);
	flight->stage = STAGE_IDLE;
}

static void fail(struct flight *flight, const char *why)
{
	int64_t now = clock_monotonic();

	ledger_add(FLIGHT_FAILED, 1);
	if (!flight->logged || now - flight->logged >= LOG_NS) {
		flight->logged = now;
		log_warning("what the kernel did during the late trace %016" PRIx64 " is not kept: %s",
			flight->trace_id, why);
	}
	end(flight);
}

static bool has_room(const struct flight *flight, char *why, size_t size)
{
	const struct settings_of_flight *settings = flight->settings;
	struct statvfs disk;
	int code = flight_folder_make(settings->folder);

	if (code != 0) {
		snprintf(why, size, "%s cannot be made: %s", settings->folder, g_strerror(code));
		return false;
	}
	/* the snapshot, and copies of as much of the programs' trace */
	if (statvfs(settings->folder, &disk) == 0 &&
		disk.f_bavail * disk.f_frsize < 2 * settings->memory + settings->bytes + ROOM_BYTES) {
		snprintf(why, size, "the disk of %s has too little room for a snapshot", settings->folder);
		return false;
	}
	return true;
}

/* Returns the snapshot's number; 0 if there is to be none. */
static uint64_t begin(struct flight *flight, int64_t now)
{
	char why[512];

	flight_folder_clean(flight->settings->folder);
	if (!has_room(flight, why, sizeof(why))) {
		fail(flight, why);
		return 0;
	}
	flight->stage = STAGE_SNAPSHOT;
	flight->begun = now;
	return ++flight->number;
}

/* The answer's process */

/* What it may take; whatever it forks has the same. */
static void limit_itself(void)
{
	const struct rlimit cpu = {ANSWER_CPU_SECONDS, ANSWER_CPU_SECONDS}, none = {0, 0},
			    memory = {ANSWER_MEMORY, ANSWER_MEMORY};
	int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	prlimit(0, RLIMIT_CPU, &cpu, NULL);
	prlimit(0, RLIMIT_CORE, &none, NULL);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	prlimit(0, RLIMIT_DATA, &memory, NULL);
#else
	(void)memory;
#endif
	if (score >= 0 && write(score, OOM_SCORE, strlen(OOM_SCORE)) < 0)
		close(score);
}

/* In the child. Nothing here may allocate. */
static void become(const char *program, char *const *words, char *const *environment, int text, bool polite)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0)
		_exit(NO_PROGRAM);
	/* out of the way first: dup2 onto itself would leave it to be closed */
	text = fcntl(text, F_DUPFD, 16);
	if (text < 0 || dup2(text, CONFIG_FD) < 0)
		_exit(NO_PROGRAM);
	close_range(CONFIG_FD + 1, ~0U, 0);
	limit_itself();
	if (polite)
		setpriority(PRIO_PROCESS, 0, NICEST);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(program, words, environment);
	_exit(NO_PROGRAM);
}

/* The unit's filter of system calls ends who would lower a priority; there it is the lowest already. */
static bool may_be_polite(void)
{
	return prctl(PR_GET_SECCOMP) == 0 && getpriority(PRIO_PROCESS, 0) < NICEST;
}

static void start_answer(struct flight *flight)
{
	const struct settings_of_flight *settings = flight->settings;
	g_autofree char *program = child_command();
	g_autofree char *copies = g_build_filename(settings->folder, "copies", NULL);
	g_auto(GStrv) environment = g_environ_setenv(g_get_environ(), "TMPDIR", copies, TRUE);
	char id[17];
	char *words[] = {(char *)PROGRAM, (char *)"why", (char *)"--flight", settings->folder,
		(char *)"--config", (char *)CONFIG_PATH, id, (char *)(settings->user ? "--user" : NULL),
		NULL};
	int text = child_text_file(&settings->text);
	bool polite = may_be_polite();

	snprintf(id, sizeof(id), "%016" PRIx64, flight->trace_id);
	flight->pid = text >= 0 ? fork() : -1;
	if (flight->pid == 0)
		become(program, words, environment, text, polite);
	if (text >= 0)
		close(text);
	if (flight->pid < 0) {
		flight->pid = 0;
		fail(flight, g_strerror(errno));
		return;
	}
	setpgid(flight->pid, flight->pid);
	flight->stage = STAGE_ANSWER;
	flight->begun = clock_monotonic();
}

static void finish(struct flight *flight, int status)
{
	const struct settings_of_flight *settings = flight->settings;
	char why[128];

	flight->pid = 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0 &&
		flight_folder_has(settings->folder, flight->trace_id)) {
		end(flight);
		flight_folder_bound(settings->folder, settings->bytes);
		ledger_add(FLIGHT_KEPT, 1);
		log_info("what the kernel did during the late trace %016" PRIx64
			 " is kept: blkin why %016" PRIx64,
			flight->trace_id, flight->trace_id);
		return;
	}
	if (WIFSIGNALED(status))
		snprintf(why, sizeof(why), "`blkin why` was ended by signal %d", WTERMSIG(status));
	else if (WEXITSTATUS(status) == NO_PROGRAM)
		snprintf(why, sizeof(why), "`blkin why` cannot be started: is %s in %s?", PROGRAM,
			COMMAND_FOLDER);
	else
		snprintf(why, sizeof(why), "`blkin why` ended with code %d", WEXITSTATUS(status));
	fail(flight, why);
}

static void attend_answer(struct flight *flight, int64_t now)
{
	int status = 0;

	if (now - flight->begun >= ANSWER_NS)
		kill(-flight->pid, SIGKILL);
	if (waitpid(flight->pid, &status, WNOHANG) != 0)
		finish(flight, status);
}

uint64_t flight_tick(struct flight *flight, bool ready)
{
	int64_t now = clock_monotonic();

	if (flight->stage == STAGE_IDLE)
		take_settings(flight);
	if (flight->stage == STAGE_ANSWER)
		attend_answer(flight, now);
	else if (flight->stage == STAGE_SNAPSHOT && now - flight->begun >= SNAPSHOT_NS)
		fail(flight, "no snapshot came for a minute");
	else if (flight->stage == STAGE_IDLE && ready && is_on(flight) &&
		 flight_rate_next(&flight->rate, now, &flight->trace_id))
		return begin(flight, now);
	return 0;
}

void flight_snapped(struct flight *flight, uint64_t number, const char *error)
{
	if (flight->stage != STAGE_SNAPSHOT || number != flight->number)
		return; /* it came too late */
	if (*error)
		fail(flight, error);
	else
		start_answer(flight);
}

void flight_destroy(struct flight *flight)
{
	int status;

	if (flight->pid) {
		kill(-flight->pid, SIGKILL);
		waitpid(flight->pid, &status, 0);
	}
	if (flight->settings)
		flight_folder_clean(flight->settings->folder);
	settings_free(flight->settings);
	settings_free(flight->fresh);
	flight_late_destroy(flight->late);
	pthread_mutex_destroy(&flight->lock);
	g_free(flight);
}
