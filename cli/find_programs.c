/* SPDX-License-Identifier: BSD-2-Clause */
#include "find_programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/sanitize.h"
#include "find_holders.h"
#include "process_name.h"
#include "session/sessiond.h"

#define LIMIT_NS (1 * NS_PER_SECOND)
/* A program is stopped if it is for so long. */
#define STOPPED_MS 500
#define STEP_MS 50
#define NAMED_MAX 3

/* A program that has just been started is not registered yet. */
#define YOUNG_S 10

#define SHARED_FOLDER "/dev/shm"
/* A program maps a file of this name, in which a session daemon tells that it has come; the number is the
 * interface's, and a user's own daemon has the user's behind it. */
#define WAIT_FILE "/lttng-ust-wait-"
/* A ring buffer is a file of this name, and the number of the consumer daemon that has made it. */
#define BUFFER_FILE "/shm-ust-consumer-"
#define PROVIDER "/libblkin-provider.so."
/* Of all of a node's processes few are to be found so, and for that nobody waits for longer. */
#define UNSTARTED_NS (250 * NS_PER_MS)
/* The agent's own program is none that one wants to know of. */
#define CANARY "blkin-canary\n"

struct search {
	struct census *census;
	int64_t deadline;
	dev_t shared;  /* the shared memory that the session daemon has */
	int interface; /* the daemon's; -1: there is none, or none that this user may ask */
	bool all;      /* nobody else's programs are left out */
	int found;     /* with canaries */
	bool whole;    /* each could be looked at */
	double now;    /* when this process started, as start_of() has it */
	GArray *stopped, *unrecorded;
	GArray *others;    /* without LTTng's threads */
	GArray *unstarted; /* of these, those that were to have them */
};

/* What the files say that a process has mapped. */
struct mapped {
	int interface; /* of the LTTng that it looks for; -1: of none that the session daemon could be */
	bool provider; /* blkin's */
	bool buffer;   /* of LTTng's */
};

/* A file of a process's in /proc, the caller's; NULL if it cannot be read. */
static char *read_of(int pid, const char *file)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/%s", pid, file);
	char *text = NULL;

	return g_file_get_contents(path, &text, NULL, NULL) ? text : NULL;
}

static bool is_stopped(int pid)
{
	g_autofree char *text = read_of(pid, "stat");
	const char *state = text ? strrchr(text, ')') : NULL;

	return state && (g_str_has_prefix(state, ") T") || g_str_has_prefix(state, ") t"));
}

/* When a process started, in seconds since some time; 0: it has ended. */
static double start_of(int pid)
{
	g_autofree char *text = read_of(pid, "stat");
	const char *at = text ? strrchr(text, ')') : NULL;

	/* it is the 22nd word, and the second one ends there */
	for (int word = 2; at && word < 22; word++)
		at = strchr(at + 1, ' ');
	return at ? g_ascii_strtod(at + 1, NULL) / (double)sysconf(_SC_CLK_TCK) : 0;
}

/* The interface for which the line of a process's maps is a wait file, if it is in the @shared memory that
 * the session daemon has; -1: it is none. Who has another is in a container that traces its own. */
static int interface_of(const char *line, dev_t shared)
{
	const char *number = strstr(line, WAIT_FILE);
	unsigned major_number, minor_number;

	if (!number || sscanf(line, "%*x-%*x %*s %*x %x:%x", &major_number, &minor_number) != 2 ||
		makedev(major_number, minor_number) != shared)
		return -1;
	number += strlen(WAIT_FILE);
	return *number >= '0' && *number <= '9' ? atoi(number) : -1;
}

/* false if that may not be looked at. */
static bool look_at_maps(int pid, dev_t shared, struct mapped *mapped)
{
	g_autofree char *path = g_strdup_printf("/proc/%d/maps", pid);
	FILE *maps = fopen(path, "re");
	char line[512];

	*mapped = (struct mapped){.interface = -1};
	while (maps && fgets(line, sizeof(line), maps)) {
		int interface = interface_of(line, shared);

		if (interface >= 0)
			mapped->interface = interface;
		mapped->provider |= strstr(line, PROVIDER) != NULL;
		mapped->buffer |= strstr(line, BUFFER_FILE) != NULL;
	}
	return maps && fclose(maps) == 0;
}

static void count_stranger(const struct search *search, int pid, int interface)
{
	struct census *census = search->census;

	if (!census->strangers++)
		process_name(census->stranger, sizeof(census->stranger), pid);
	census->stranger_interface = interface;
	census->interface = search->interface;
}

static void count_program(struct search *search, int pid, bool provider)
{
	struct census *census = search->census;

	census->programs++;
	census->blkin += provider;
	if (!provider && !*census->other)
		process_name(census->other, sizeof(census->other), pid);
}

static void look_at(struct search *search, int pid)
{
	g_autofree char *name = NULL;
	struct mapped mapped;

	if (!(search->all || process_user(pid) == getuid()))
		return;
	if (!process_is_traced(pid)) {
		g_array_append_val(search->others, pid);
		return;
	}
	name = read_of(pid, "comm");
	if (!name) /* it has ended */
		return;
	if (!look_at_maps(pid, search->shared, &mapped))
		search->whole = false;
	else if (mapped.interface < 0)
		return;
	else if (search->interface >= 0 && mapped.interface != search->interface) {
		count_stranger(search, pid, mapped.interface);
		return;
	}
	search->found++;
	if (!strcmp(name, CANARY))
		return;
	count_program(search, pid, mapped.provider);
	if (is_stopped(pid))
		g_array_append_val(search->stopped, pid);
	else if (mapped.provider && !mapped.buffer && search->now - start_of(pid) >= YOUNG_S)
		g_array_append_val(search->unrecorded, pid);
}

static void search_programs(struct search *search)
{
	g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
	const char *name;

	search->whole = proc != NULL;
	while (proc && (name = g_dir_read_name(proc))) {
		int pid = atoi(name);

		if (clock_monotonic() >= search->deadline) {
			search->whole = false;
			return;
		}
		if (pid > 0)
			look_at(search, pid);
	}
}

/*
 * LTTng starts its threads when the provider is loaded. Where it could not, as the user has no more
 * processes, or there is no /dev/shm, nobody hears of the program. All of a node's processes have many maps:
 * what there is no time for is left out.
 */
static void search_unstarted(struct search *search)
{
	int64_t deadline = MIN(search->deadline, clock_monotonic() + UNSTARTED_NS);
	struct mapped mapped;

	for (guint i = 0; i < search->others->len && clock_monotonic() < deadline; i++) {
		int pid = g_array_index(search->others, int, i);

		if (look_at_maps(pid, search->shared, &mapped) && mapped.provider && !mapped.buffer &&
			search->now - start_of(pid) >= YOUNG_S)
			g_array_append_val(search->unstarted, pid);
	}
}

/* Debuggers and sanitizers stop programs for moments, in which LTTng still waits for them. */
static void leave_out_running(GArray *stopped)
{
	for (int64_t waited = 0; waited < STOPPED_MS && stopped->len; waited += STEP_MS) {
		g_usleep(STEP_MS * 1000);
		for (guint i = stopped->len; i > 0; i--)
			if (!is_stopped(g_array_index(stopped, int, i - 1)))
				g_array_remove_index(stopped, i - 1);
	}
}

/* "hog (123) of user 1000, hog (124) of user 1000"; the first few, each with what there is to say of it. */
static void name_some(GString *names, const GArray *pids, guint most, const char *more)
{
	for (guint i = 0; i < MIN(pids->len, most); i++) {
		int pid = g_array_index(pids, int, i);
		uid_t user = process_user(pid);
		char name[64];

		process_name(name, sizeof(name), pid);
		g_string_append_printf(names, "%s%s", names->len ? ", " : "", name);
		if (user != (uid_t)-1)
			g_string_append_printf(names, " of user %u", user);
		g_string_append(names, more);
	}
}

static void take_names(char *text, size_t size, const GString *names)
{
	words_copy(text, size, (const uint8_t *)names->str, names->len);
}

/* Those that have been looked at. */
static void tell(struct census *census, const struct search *search)
{
	g_autoptr(GString) stopped = g_string_new(NULL), unrecorded = g_string_new(NULL);
	guint named = MIN(search->unrecorded->len, NAMED_MAX);

	name_some(stopped, search->stopped, NAMED_MAX, "");
	name_some(unrecorded, search->unrecorded, named, "");
	name_some(unrecorded, search->unstarted, NAMED_MAX - named, ", without LTTng's threads");
	census->stopped = (int)search->stopped->len;
	census->unrecorded = (int)(search->unrecorded->len + search->unstarted->len);
	take_names(census->stopped_names, sizeof(census->stopped_names), stopped);
	take_names(census->unrecorded_names, sizeof(census->unrecorded_names), unrecorded);
}

void find_programs(struct census *census, const char *tracing_group)
{
	/* before they are looked for: one that comes in between is one more, not one that is missing */
	int registered = sessiond_programs(tracing_group);
	struct search search = {.census = census,
		.deadline = clock_monotonic() + LIMIT_NS,
		.interface = sessiond_interface(tracing_group),
		.all = *tracing_group || getuid() == 0};
	struct stat shared;

	if (stat(SHARED_FOLDER, &shared) != 0)
		return;
	search.shared = shared.st_dev;
	search.now = start_of(getpid());
	search.stopped = g_array_new(FALSE, FALSE, sizeof(int));
	search.unrecorded = g_array_new(FALSE, FALSE, sizeof(int));
	search.others = g_array_new(FALSE, FALSE, sizeof(int));
	search.unstarted = g_array_new(FALSE, FALSE, sizeof(int));
	search_programs(&search);
	search_unstarted(&search);
	/* those in other containers may have no process here */
	census->known = search.whole && search.interface >= 0 && search.found >= registered;
	leave_out_running(search.stopped);
	tell(census, &search);
	g_array_unref(search.stopped);
	g_array_unref(search.unrecorded);
	g_array_unref(search.others);
	g_array_unref(search.unstarted);
	find_holders(census, tracing_group);
}
