/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/livereader.h"

#include <inttypes.h>
#include <netdb.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib.h>

#include "base/log.h"
#include "reader/untold.h"
#include "session/relayfiles.h"
#include "session/relaynews.h"
#include "session/relayscan.h"

struct livereader {
	const struct config *config;
	struct pipeline *pipeline;
	struct progress *progress;
	struct page *page;
	uint64_t heard;  /* when streams were idle last; CLOCK_MONOTONIC ns */
	uint64_t opened; /* when the session was created whose files are open */
	struct relayfiles *files;
	struct unread *unread;
	struct untold untold; /* while files is NULL */
	GHashTable *traces;   /* on disk when the reader attached, by stream_key_trace */
	uint64_t complained;  /* when the session was created whose files could not be read, which is logged
				 once */
	char trouble[512];    /* why they cannot be read; "" if they can, or there are none yet */
};

struct livereader *livereader_create(
	const struct config *config, struct pipeline *pipeline, struct progress *progress, struct page *page)
{
	struct livereader *live = g_new0(struct livereader, 1);

	live->config = config;
	live->pipeline = pipeline;
	live->progress = progress;
	live->page = page;
	live->unread = unread_create(config->live_timer);
	live->untold.config = config;
	live->traces = g_hash_table_new(NULL, NULL);
	return live;
}

void livereader_destroy(struct livereader *live)
{
	if (live->files)
		relayfiles_close(live->files);
	unread_destroy(live->unread);
	g_hash_table_unref(live->traces);
	g_free(live);
}

void livereader_complain(struct livereader *live, const char *error)
{
	uint64_t created = progress_session(live->progress)->created;

	if (live->complained != created)
		log_warning("lttng-relayd's files cannot be read: what was recorded while the session was "
			    "not read live may be lost (%s; see `relay-output` in [session])",
			error);
	live->complained = created;
}

/* A session of which something was read must have files. */
static void note_trouble(struct livereader *live, enum relayfiles_status status, const char *error)
{
	bool none = status == RELAYFILES_NONE && positions_count(progress_positions(live->progress)) > 0;

	g_strlcpy(live->trouble, status == RELAYFILES_UNREADABLE || none ? error : "", sizeof(live->trouble));
}

const char *livereader_trouble(const struct livereader *live)
{
	return live->trouble;
}

/* Opens the files of the session at hand, unless they are open. */
static bool open_files(struct livereader *live, char *error, size_t error_size)
{
	const struct session_identity *session = progress_session(live->progress);
	enum relayfiles_status status;

	if (session->created != live->opened) {
		g_clear_pointer(&live->files, relayfiles_close);
		unread_clear(live->unread);
	}
	live->opened = session->created;
	if (live->files)
		return true;
	status = relayfiles_open(live->config->relay_output, session, &live->files, error, error_size);
	note_trouble(live, status, error);
	return status == RELAYFILES_OK;
}

/* For the intake. */
static bool locate(void *data, const struct stream_key *key, uint64_t begin, struct packet_info *info)
{
	struct livereader *live = data;
	char error[512];

	if (open_files(live, error, sizeof(error)))
		return relay_locate(live->files, key, begin, info);
	livereader_complain(live, error);
	return false;
}

/* Says why babeltrace2 could not read the session: in its own words, unless there are better ones. */
static void explain(struct livereader *live, const char *words, char *why, size_t size)
{
	char error[512];

	if (open_files(live, error, sizeof(error)) && relayfiles_are_ctf2(live->files))
		snprintf(why, size,
			"LTTng writes CTF 2, which the agent does not read: its liblttng-ctl is older than "
			"the "
			"session daemon; upgrade liblttng-ctl, or start lttng-sessiond with "
			"LTTNG_SESSIOND_DEFAULT_TRACE_FORMAT=ctf-1.8");
	else
		snprintf(why, size, "%s", words);
}

bool livereader_relay_answers(const struct livereader *live)
{
	const struct config *config = live->config;
	g_autofree char *port = g_strdup_printf("%" PRIu64, config->relay_live_port);
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list = NULL;
	bool answers = false;

	if (getaddrinfo(config->relay_host, port, &hints, &list) != 0)
		return false;
	for (struct addrinfo *at = list; at && !answers; at = at->ai_next) {
		int fd = socket(at->ai_family, at->ai_socktype | SOCK_CLOEXEC, at->ai_protocol);

		answers = fd >= 0 && connect(fd, at->ai_addr, at->ai_addrlen) == 0;
		if (fd >= 0)
			close(fd);
	}
	freeaddrinfo(list);
	return answers;
}

int64_t livereader_heard(const struct livereader *live)
{
	return (int64_t)live->heard;
}

/* What does not come */

/* The same, without files. A session of which nothing was read has none: then the reader asks for streams. */
static enum unread_verdict look_at_list(struct livereader *live, const struct reader *reader)
{
	const struct session_identity *session = progress_session(live->progress);

	if (!*live->trouble ||
		!untold_look(&live->untold, session, progress_positions(live->progress), reader))
		return UNREAD_NOTHING;
	return UNREAD_TRACE;
}

enum unread_verdict livereader_look(struct livereader *live, const struct reader *reader)
{
	enum unread_verdict verdict;
	char error[512];
	uint64_t user;

	if (!unread_is_due(live->unread))
		return UNREAD_NOTHING;
	if (!open_files(live, error, sizeof(error)))
		return look_at_list(live, reader);
	verdict = unread_look(live->unread, live->files, progress_positions(live->progress), reader);
	if (relay_scan_was_odd(live->files, &user))
		pipeline_odd_packets(live->pipeline, user);
	return verdict;
}

int livereader_watch(struct livereader *live)
{
	char error[512];

	return open_files(live, error, sizeof(error)) ? relaynews_open(live->files) : -1;
}

bool livereader_grows(const struct livereader *live)
{
	return unread_grows(live->unread);
}

/* New users */

static void know_trace(void *data, const struct stream_key *key)
{
	struct livereader *live = data;

	g_hash_table_add(live->traces, GSIZE_TO_POINTER(stream_key_trace(key)));
}

bool livereader_has_new_traces(struct livereader *live)
{
	guint known = g_hash_table_size(live->traces);
	char error[512];

	if (open_files(live, error, sizeof(error)))
		relayfiles_each_trace(live->files, know_trace, live);
	return g_hash_table_size(live->traces) > known;
}

bool livereader_has_traces(struct livereader *live)
{
	livereader_has_new_traces(live);
	return g_hash_table_size(live->traces) > 0;
}

static void note_traces(struct livereader *live)
{
	g_hash_table_remove_all(live->traces);
	livereader_has_new_traces(live);
}

/* Attaching */

enum attached livereader_attach(
	struct livereader *live, struct session *session, struct reader **reader, struct problem *problem)
{
	struct intake_options into = {.pipeline = live->pipeline,
		.positions = progress_positions(live->progress),
		.steps = progress_steps(live->progress),
		.heard = &live->heard,
		.overlap = progress_overlap(live->progress),
		.locate = locate,
		.data = live,
		.page = live->page};
	enum attached attached;
	enum reader_status status;
	char why[256] = "the relay daemon does not know it";

	unread_attach(live->unread, progress_positions(live->progress));
	note_traces(live);
	if (!live->files)
		untold_attach(&live->untold, progress_session(live->progress));
	*reader = reader_open_live(session_url(session), &into, problem->text, sizeof(problem->text));
	problem->reason = REASON_UNREADABLE;
	if (!*reader)
		return ATTACHED_NOT;
	reader_hold(*reader, true);
	status = reader_step(*reader);
	if (status == READER_MORE || status == READER_IDLE)
		return ATTACHED;
	if (status == READER_ERROR)
		explain(live, reader_error(*reader), why, sizeof(why));
	g_clear_pointer(reader, reader_close);
	if (status == READER_END)
		attached = ATTACHED_UNKNOWN;
	else
		attached = livereader_relay_answers(live) ? ATTACHED_UNREADABLE : ATTACHED_NOT;
	problem_set(problem, attached == ATTACHED_UNREADABLE ? REASON_UNREADABLE : REASON_NO_RELAY,
		"cannot attach to the session at %s: %s", session_url(session), why);
	return attached;
}
