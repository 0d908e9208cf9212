/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/recover.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "reader/decode/reader.h"
#include "session/relaycarve.h"
#include "session/relayfiles.h"
#include "session/relayscan.h"

/* Carved at a time, in bytes, but one packet at least. */
#define SLICE_BYTES (32 * 1024 * 1024)
/* The same in the folder of the control socket, which is usually in memory. */
#define SMALL_SLICE_BYTES (2 * 1024 * 1024)
/* So many packets are known at a time: a scan finds a million where packets are small, and much waits. */
#define PACKETS_MAX (64 * 1024)
/* While the queue is half full, recovery waits; but no longer than this if nothing leaves the queue. */
#define STUCK_NS (5 * NS_PER_SECOND)
#define WAIT_US 2000

/* One scan of a session's files. */
struct pass {
	const struct recover *recover;
	struct relayfiles *files;
	GArray *packets; /* of struct relayfiles_packet, by begin clock */
	char *scratch;
	uint64_t slice_bytes;
	bool last;   /* nobody writes the session any more */
	bool opened; /* the traces that were read last could be */
	bool waits;  /* there is a trace that may be readable later */
	char error[RELAY_CARVE_ERROR];
};

/* Room in the queues */

/* Waits until the queues have room: there is no hurry, and what they hold must not be dropped for this. */
static bool wait_for_room(const struct recover *recover)
{
	int64_t moved = clock_monotonic();
	size_t least = SIZE_MAX;

	while (!recover->stopping(recover->data)) {
		size_t excess = runstate_excess(recover->state);

		if (!excess && progress_catch_up(recover->progress))
			return true;
		if (excess < least) {
			least = excess;
			moved = clock_monotonic();
		}
		if (clock_monotonic() - moved >= STUCK_NS)
			return true;
		g_usleep(WAIT_US);
		progress_tick(recover->progress);
	}
	return false;
}

/* Slices */

/* The first packet that begins at @begin or later. */
static guint lower_bound(const GArray *packets, uint64_t begin)
{
	guint low = 0, high = packets->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (g_array_index(packets, struct relayfiles_packet, middle).is.begin < begin)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool locate(void *data, const struct stream_key *key, uint64_t begin, struct packet_info *info)
{
	const struct pass *pass = data;

	for (guint i = lower_bound(pass->packets, begin); i < pass->packets->len; i++) {
		const struct relayfiles_packet *packet =
			&g_array_index(pass->packets, struct relayfiles_packet, i);

		if (packet->is.begin != begin)
			break;
		if (stream_key_equal(&packet->key, key)) {
			*info = (struct packet_info){packet->is.sequence, packet->is.discarded};
			return true;
		}
	}
	return false;
}

static enum recover_status read_traces(struct pass *pass, char *const *traces, size_t count)
{
	const struct recover *recover = pass->recover;
	struct intake_options into = {.pipeline = recover->pipeline,
		.positions = progress_positions(recover->progress),
		.steps = progress_steps(recover->progress),
		.overlap = progress_overlap(recover->progress),
		.locate = locate,
		.data = pass,
		.page = recover->state->page};
	enum reader_status status = READER_MORE;
	struct reader *reader = reader_open_files(traces, count, &into, pass->error, sizeof(pass->error));

	pass->opened = reader != NULL;
	if (!reader)
		return RECOVER_UNREADABLE;
	while ((status == READER_MORE || status == READER_IDLE) && wait_for_room(recover)) {
		status = reader_step(reader);
		progress_tick(recover->progress);
	}
	if (status == READER_ERROR)
		g_strlcpy(pass->error, reader_error(reader), sizeof(pass->error));
	reader_close(reader);
	if (status == READER_END)
		return RECOVER_OK;
	return status == READER_ERROR ? RECOVER_UNREADABLE : RECOVER_STOPPED;
}

/* Gives up what could not be read of these packets; or, if @trace is not NULL, of those of that trace,
 * because of what is recorded in them. */
static uint64_t give_up(struct pass *pass, guint first, guint end, const char *trace)
{
	struct positions *positions = progress_positions(pass->recover->progress);
	uint64_t lost = 0, unreadable = 0;

	for (guint i = first; i < end; i++) {
		const struct relayfiles_packet *packet =
			&g_array_index(pass->packets, struct relayfiles_packet, i);
		struct position *position;
		uint64_t gone;

		if (trace && !relay_carve_is_of(&packet->key, trace))
			continue;
		position = positions_get(positions, &packet->key);
		gone = position ? stream_point_give_up(&position->done, packet->is.begin, packet->is.sequence)
				: 0;
		if (!gone)
			continue;
		/* this one, and those before it, which are not there any more */
		unreadable += trace && relay_packet_holds_events(&packet->is);
		lost += gone - !relay_packet_holds_events(&packet->is);
		positions_moved(positions);
	}
	if (lost)
		pipeline_lost_packets(pass->recover->pipeline, lost - unreadable, false);
	if (unreadable)
		pipeline_unreadable_packets(pass->recover->pipeline, unreadable);
	return lost;
}

static uint64_t user_of(const char *trace)
{
	return g_ascii_strtoull(strrchr(trace, '/') + 1, NULL, 10);
}

static void leave_out(struct pass *pass, const char *trace, guint first, guint end, const char *error)
{
	const struct recover *recover = pass->recover;

	recover->left_out(recover->data, user_of(trace), give_up(pass, first, end, trace), error);
}

/* Reads one trace; if it cannot be read, its packets are given up, unless another pass may do better. */
static enum recover_status read_alone(struct pass *pass, char *trace, guint first, guint end)
{
	const struct recover *recover = pass->recover;
	struct user *user = users_get(recover->users, user_of(trace));
	enum recover_status status;

	if (user_waits(user)) {
		leave_out(pass, trace, first, end, "the process that reads it ended each time");
		return RECOVER_OK;
	}
	runstate_alone(recover->state, &user->id);
	status = read_traces(pass, &trace, 1);
	runstate_alone(recover->state, NULL);
	if (status == RECOVER_UNREADABLE) {
		if (!pass->opened && !pass->last && !recover->give_up && user_is_young(user))
			pass->waits = true;
		else
			leave_out(pass, trace, first, end, pass->error);
		return RECOVER_OK;
	}
	if (status == RECOVER_OK && user->suspect) {
		user->suspect = false;
		agent_link_well(recover->link, user->id);
	}
	if (status == RECOVER_OK && recover->alone)
		recover->alone_read(recover->data);
	return status;
}

/* Whether one of the traces may end the reader. Those come last then. */
static bool sort_suspects(const struct pass *pass, GPtrArray *traces)
{
	guint innocent = 0;

	for (guint i = 0; i < traces->len; i++) {
		gpointer trace = traces->pdata[i];

		if (users_get(pass->recover->users, user_of(trace))->suspect)
			continue;
		traces->pdata[i] = traces->pdata[innocent];
		traces->pdata[innocent++] = trace;
	}
	return innocent < traces->len;
}

static enum recover_status read_slice(struct pass *pass, guint first, guint end)
{
	GPtrArray *traces =
		relay_carve(pass->files, &g_array_index(pass->packets, struct relayfiles_packet, first),
			end - first, pass->scratch, pass->error);
	enum recover_status status = traces ? RECOVER_OK : RECOVER_FAILED;

	if (traces && traces->len && (sort_suspects(pass, traces) || pass->recover->alone))
		status = RECOVER_UNREADABLE;
	else if (traces && traces->len)
		status = read_traces(pass, (char *const *)traces->pdata, traces->len);
	if (status == RECOVER_UNREADABLE) {
		status = RECOVER_OK;
		for (guint i = 0; i < traces->len && status == RECOVER_OK; i++)
			status = read_alone(pass, g_ptr_array_index(traces, i), first, end);
	}
	if (traces)
		g_ptr_array_unref(traces);
	relay_carve_remove(pass->scratch);
	return status;
}

/*
 * If the state directory is full, or cannot be written, the control socket's folder is used, unless others
 * may write there too.
 */
static bool fall_back(struct pass *pass)
{
	g_autofree char *folder = g_path_get_dirname(pass->recover->config->socket);
	struct stat stat;

	if (pass->slice_bytes == SMALL_SLICE_BYTES || lstat(folder, &stat) != 0 || stat.st_mode & S_IWOTH)
		return false;
	g_free(pass->scratch);
	pass->scratch = g_strconcat(pass->recover->config->socket, ".scratch", NULL);
	pass->slice_bytes = SMALL_SLICE_BYTES;
	return true;
}

static enum recover_status read_slices(struct pass *pass)
{
	enum recover_status status = RECOVER_OK;
	guint first = 0;

	while (first < pass->packets->len && status == RECOVER_OK) {
		uint64_t bytes = 0;
		guint end = first;

		do
			bytes += g_array_index(pass->packets, struct relayfiles_packet, end++).is.size;
		while (end < pass->packets->len &&
			bytes + g_array_index(pass->packets, struct relayfiles_packet, end).is.size <=
				pass->slice_bytes);
		status = read_slice(pass, first, end);
		if (status == RECOVER_FAILED && fall_back(pass)) {
			status = RECOVER_OK;
			continue;
		}
		if (status == RECOVER_FAILED && pass->recover->give_up) {
			log_warning("%" G_GUINT64_FORMAT " packets of LTTng session `%s` are lost: %s",
				give_up(pass, first, end, NULL),
				progress_session(pass->recover->progress)->name, pass->error);
			status = RECOVER_OK;
		}
		first = end;
	}
	return status == RECOVER_OK && pass->waits ? RECOVER_WAITS : status;
}

/* Passes */

/* How far a pass goes. */
struct extent {
	bool last;       /* nobody writes the session any more */
	uint64_t enough; /* bytes: if there are no more than that, none is read */
	uint64_t found;  /* bytes that there were */
	bool more;       /* more packets than one pass takes */
	uint64_t newest; /* the begin clock of the last packet that there was, */
	uint64_t read;   /* and of the last one that the pass took */
};

static enum recover_status open_files(struct pass *pass)
{
	struct progress *progress = pass->recover->progress;
	const struct session_identity *session = progress_session(progress);
	enum relayfiles_status status = relayfiles_open(
		pass->recover->config->relay_output, session, &pass->files, pass->error, sizeof(pass->error));

	/* a session of which nothing was read may have no folder, if it has no streams; any other must have
	 * one */
	if (status == RELAYFILES_NONE && !pass->recover->has_streams &&
		positions_count(progress_positions(progress)) == 0)
		return RECOVER_OK;
	if (status == RELAYFILES_BUSY && !pass->recover->give_up)
		return RECOVER_FAILED;
	return status == RELAYFILES_OK ? RECOVER_OK : RECOVER_UNREADABLE;
}

/* Once for each session, as a pass may come each second. Used by the thread that reads only. */
static void tell_missing(uint64_t session, const char *error)
{
	static uint64_t told;

	if (told != session)
		log_warning("%s: packets that are missing there are lost, and counted, as at least one, when "
			    "the session ends",
			error);
	told = session;
}

/* Passes over the packets that hold nothing and cannot be read: they are done, so none of them is missing
 * when others of their streams come. */
static void pass_over_blank(struct pass *pass)
{
	guint kept = 0;

	for (guint i = 0; i < pass->packets->len; i++) {
		struct relayfiles_packet *packet = &g_array_index(pass->packets, struct relayfiles_packet, i);

		if (packet->blank)
			give_up(pass, i, i + 1, NULL);
		else
			g_array_index(pass->packets, struct relayfiles_packet, kept++) = *packet;
	}
	g_array_set_size(pass->packets, kept);
}

static uint64_t last_begin(const GArray *packets)
{
	return g_array_index(packets, struct relayfiles_packet, packets->len - 1).is.begin;
}

/* Reads the files that are open. */
static enum recover_status read_files(struct pass *pass, struct extent *extent)
{
	const struct recover *recover = pass->recover;
	struct progress *progress = recover->progress;
	struct relay_found found = {.packets = pass->packets, .most = PACKETS_MAX};
	enum relay_scanned scanned = relay_scan(
		pass->files, progress_positions(progress), &found, pass->error, sizeof(pass->error));
	enum recover_status status = RECOVER_OK;
	uint64_t user;

	if (relay_scan_was_odd(pass->files, &user))
		pipeline_odd_packets(recover->pipeline, user);
	if (scanned == RELAY_BUSY && !recover->give_up)
		status = RECOVER_FAILED;
	else if (scanned != RELAY_WHOLE)
		tell_missing(progress_session(progress)->created, pass->error);
	pass_over_blank(pass);
	extent->found = found.bytes;
	extent->more = found.more;
	extent->newest = found.newest;
	extent->read = pass->packets->len ? last_begin(pass->packets) : 0;
	if (status == RECOVER_OK && extent->found > extent->enough)
		status = read_slices(pass);
	/* those behind them are to come, too */
	if ((extent->last || extent->more) && status == RECOVER_OK && extent->found > extent->enough &&
		give_up(pass, 0, pass->packets->len, NULL))
		log_warning("%s: its index lists packets that its files do not have: they are lost",
			relayfiles_path(pass->files));
	/* it is not known how many packets were there, but there were some */
	if (extent->last && status == RECOVER_OK && scanned != RELAY_WHOLE && !extent->found)
		pipeline_lost_packets(recover->pipeline, 1, false);
	pipeline_tick(recover->pipeline, clock_monotonic(), false);
	return status;
}

static enum recover_status run_pass(
	const struct recover *recover, struct extent *extent, char *error, size_t error_size)
{
	struct pass pass = {.recover = recover, .slice_bytes = SLICE_BYTES, .last = extent->last};
	enum recover_status status = open_files(&pass);

	extent->found = 0;
	extent->more = false;
	if (pass.files) {
		pass.packets = g_array_new(FALSE, FALSE, sizeof(struct relayfiles_packet));
		pass.scratch = g_build_filename(recover->config->state_directory, "scratch", NULL);
		status = read_files(&pass, extent);
		g_array_unref(pass.packets);
		g_free(pass.scratch);
		relayfiles_close(pass.files);
	}
	g_strlcpy(error, pass.error, error_size);
	return status;
}

/* Whether another pass is to come; @newest: the begin clock of the newest packet that the first one found.
 * What came since is left: or there would be no end while packets come as fast as they are read. */
static bool is_to_go_on(const struct extent *extent, uint64_t newest)
{
	return extent->last ? extent->found > 0 : extent->more && extent->read <= newest;
}

/* Passes that read all that there is at first; @found: the most bytes that one of them found. */
static enum recover_status run_passes(
	const struct recover *recover, struct extent *extent, uint64_t *found, char *error, size_t error_size)
{
	const struct positions *positions = progress_positions(recover->progress);
	enum recover_status status;
	uint64_t moves, newest = 0;

	*found = 0;
	do {
		moves = positions_moves(positions);
		status = run_pass(recover, extent, error, error_size);
		newest = newest ? newest : extent->newest;
		*found = MAX(*found, extent->found);
	} while (status == RECOVER_OK && is_to_go_on(extent, newest) && positions_moves(positions) != moves);
	return status;
}

enum recover_status recover_pass(
	const struct recover *recover, uint64_t enough, uint64_t *found, char *error, size_t error_size)
{
	struct extent extent = {.enough = enough};

	return run_passes(recover, &extent, found, error, error_size);
}

enum recover_status recover_rest(const struct recover *recover, char *error, size_t error_size)
{
	struct extent extent = {.last = true};
	uint64_t found;

	return run_passes(recover, &extent, &found, error, error_size);
}
