/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/run.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "import/around.h"
#include "import/examine.h"
#include "import/guard.h"
#include "why/collect.h"
#include "why/fitting.h"
#include "why/kept.h"
#include "why/origin.h"
#include "why/show.h"

/* What is shared with the child. */
struct run {
	struct guard guard;
	const struct config *config;
	uint64_t id;
	const char *typed; /* the same; NULL: nobody did */
	bool json;
	const struct kept_files *kept; /* NULL: it is printed */
	const GPtrArray *traces;
	bool unread;                 /* what cannot be read may be the kernel's */
	bool found, damaged, failed; /* a span; a trace; standard output */
	struct why_extent extent;
	char error[256];
};

static bool show(const struct run *run, const struct why *why)
{
	if (!run->kept)
		return run->json ? why_show_json(why) : why_show_text(why);
	return kept_begin(run->kept->text) && why_show_text(why) && kept_begin(run->kept->json) &&
	       why_show_json(why);
}

static void look(void *data)
{
	struct run *run = data;
	GPtrArray *traces;
	struct why why;

	guard_watch(&run->guard);
	signal(SIGPIPE, SIG_IGN);
	why_init(&why, run->id);
	why.unread = run->unread;
	why.flies = config_flies(run->config) && !run->kept;
	traces = fitting_traces(&why, run->config, run->traces, &run->guard);
	run->damaged = !why_collect(&why, run->config, traces, &run->guard, run->error, sizeof(run->error));
	g_ptr_array_unref(traces);
	run->found = why.spans->len > 0;
	if (run->found)
		run->failed = !show(run, &why);
	why_free(&why);
	if (!run->damaged)
		return;
	/* babeltrace2 leaks what it failed with */
	run->guard.finished = true;
	_exit(EXIT_SUCCESS);
}

static void locate(void *data)
{
	struct run *run = data;
	struct why why;

	guard_watch(&run->guard);
	why_init(&why, run->id);
	/* what comes before the damage counts */
	run->damaged =
		!why_read_spans(&why, run->config, run->traces, &run->guard, run->error, sizeof(run->error));
	run->extent = (struct why_extent){why.first, why.last};
	run->found = why.first <= why.last;
	why_free(&why);
	run->guard.finished = true;
	_exit(EXIT_SUCCESS);
}

const char *why_id_hint(const char *typed)
{
	return strspn(typed, "0123456789") == strlen(typed) ? " (ids are hexadecimal numbers)" : "";
}

static bool run_child(struct run *run)
{
	const char *how;

	if (!guard_run(&run->guard, look, run, false, &how)) {
		if (!guard_interrupted())
			log_error("the traces were not read to their ends: %s", how);
		return false;
	}
	if (run->damaged)
		log_error("the traces were not read to their ends: %s", run->error);
	else if (!run->found)
		log_error(
			"no trace and no span %s is in these traces%s", run->typed, why_id_hint(run->typed));
	return run->found && !run->damaged && !run->failed;
}

bool why_locate(const struct config *config, uint64_t id, const GPtrArray *traces, struct why_extent *extent)
{
	struct run *run = guard_share(sizeof(*run));
	g_autoptr(GPtrArray) good = g_ptr_array_new();
	const char *how;
	bool found;

	if (!run)
		return false;
	for (guint i = 0; i < traces->len; i++)
		g_ptr_array_add(good, traces->pdata[i]);
	examine_leave_out_bad(good);
	run->config = config;
	run->id = id;
	run->traces = good;
	found = good->len && guard_run(&run->guard, locate, run, false, &how) && run->found;
	*extent = run->extent;
	guard_unshare(run, sizeof(*run));
	return found;
}

/* Whether one that is not among the @good is the kernel's, as far as it says what it is. */
static bool misses_kernel(const GPtrArray *traces, GPtrArray *good)
{
	for (guint i = 0; i < traces->len; i++) {
		struct origin origin = origin_read(traces->pdata[i]);

		if (!g_ptr_array_find(good, traces->pdata[i], NULL) && (origin.kernel || !*origin.host))
			return true;
	}
	return false;
}

static int run_all(const struct config *config, const char *id, bool json, bool unread,
	const struct kept_files *kept, const GPtrArray *traces)
{
	struct run *run = guard_share(sizeof(*run));
	g_autoptr(GPtrArray) good = g_ptr_array_new();
	bool whole;

	if (!run) {
		log_error("no memory left");
		return EXIT_FAILURE;
	}
	for (guint i = 0; i < traces->len; i++)
		g_ptr_array_add(good, traces->pdata[i]);
	whole = examine_leave_out_bad(good);
	run->config = config;
	run->json = json;
	run->typed = id;
	around_parse(id, &run->id);
	run->kept = kept;
	run->unread = unread || (!whole && misses_kernel(traces, good));
	whole &= !unread;
	run->traces = good;
	whole = good->len && !guard_interrupted() && run_child(run) && whole;
	guard_unshare(run, sizeof(*run));
	return whole ? EXIT_SUCCESS : EXIT_FAILURE;
}

int why_run(const struct config *config, const char *id, bool json, bool unread, const GPtrArray *traces)
{
	return run_all(config, id, json, unread, NULL, traces);
}

int why_run_kept(
	const struct config *config, const char *id, const GPtrArray *traces, const struct kept_files *kept)
{
	return run_all(config, id, false, false, kept, traces);
}
