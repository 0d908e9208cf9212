/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "why/session.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "import/around.h"
#include "import/guard.h"
#include "session/relaycarve.h"
#include "session/relayfiles.h"
#include "session/relayscan.h"
#include "session/session.h"
#include "why/run.h"

/* The agent removes the folders of old sessions; some may wait for that. */
#define FOLDERS_MAX 16

/* Folders, as lttng-relayd names them: HOSTNAME/SESSION-YYYYMMDD-HHMMSS, in local time. */

static bool read_folder_of(const char *entry, const char *session, struct session_identity *identity)
{
	size_t size = strlen(session);
	struct tm tm = {.tm_isdst = -1};
	const char *end;

	if (strncmp(entry, session, size) != 0 || entry[size] != '-')
		return false;
	end = strptime(entry + size + 1, "%Y%m%d-%H%M%S", &tm);
	if (!end || *end)
		return false;
	g_strlcpy(identity->name, session, sizeof(identity->name));
	tm.tm_isdst = -1;
	identity->created = (uint64_t)mktime(&tm);
	return true;
}

/* A session that took another one's place has a number behind its name. */
static bool read_folder(const char *entry, const struct config *config, struct session_identity *identity)
{
	char name[sizeof(identity->name)];

	for (unsigned number = 0; number < SESSION_NAMES; number++) {
		session_name(config, number, name, sizeof(name));
		if (read_folder_of(entry, name, identity))
			return true;
	}
	return false;
}

static gint compare_newest_first(gconstpointer left, gconstpointer right)
{
	const struct session_identity *one = left, *other = right;

	return one->created > other->created ? -1 : one->created < other->created;
}

static void say_why_closed(const char *path, const GError *error)
{
	if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		log_error("no agent has recorded here (there is no %s): name a FOLDER of traces, or run this "
			  "on the "
			  "node",
			path);
	else if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_ACCES))
		log_error("%s: Permission denied: only root and the members of group `blkin` may read it",
			path);
	else
		log_error("%s", error->message);
}

/* Adds those of a host, the folder @host. What else is there is none. Returns whether it could be looked
 * into.
 */
static bool list_host(const struct config *config, const char *host, GArray *sessions)
{
	g_autofree char *path = g_build_filename(config->relay_output, host, NULL);
	g_autoptr(GError) error = NULL;
	GDir *list = g_dir_open(path, 0, &error);
	const char *entry;

	if (!list) {
		if (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOTDIR))
			return true;
		say_why_closed(path, error);
		return false;
	}
	while ((entry = g_dir_read_name(list))) {
		struct session_identity identity = {0};

		if (!read_folder(entry, config, &identity))
			continue;
		g_strlcpy(identity.host, host, sizeof(identity.host));
		g_array_append_val(sessions, identity);
	}
	g_dir_close(list);
	return true;
}

/* The sessions that have folders, the newest first: also by names that this host had before. */
static GArray *list_sessions(const struct config *config)
{
	const char *path = config->relay_output, *host;
	g_autoptr(GError) error = NULL;
	GArray *sessions = g_array_new(FALSE, TRUE, sizeof(struct session_identity));
	GDir *list = g_dir_open(path, 0, &error);
	bool open = true;

	if (!list) {
		say_why_closed(path, error);
		return sessions;
	}
	while ((host = g_dir_read_name(list)))
		open = list_host(config, host, sessions) && open;
	g_dir_close(list);
	g_array_sort(sessions, compare_newest_first);
	if (sessions->len > FOLDERS_MAX)
		g_array_set_size(sessions, FOLDERS_MAX);
	else if (!sessions->len && open)
		log_error("%s: there is no session `%s`", path, config->session_name);
	return sessions;
}

/* Packets */

static bool is_wanted(const struct relayfiles_packet *packet, const struct why_extent *extent)
{
	if (packet->blank)
		return false;
	if (packet->key.user != KERNEL_USER)
		return true;
	return extent && packet->is.end + SESSION_MARGIN_NS >= extent->first &&
	       packet->is.begin <= extent->last + SESSION_MARGIN_NS;
}

/* Those that are wanted, the newest first, as far as there is room; @whole says whether all are. Of the
 * kernel's each counts: they are few. */
static GArray *choose(const GArray *packets, const struct why_extent *extent, bool *whole)
{
	GArray *chosen = g_array_new(FALSE, FALSE, sizeof(struct relayfiles_packet));
	uint64_t bytes[2] = {0};

	*whole = true;
	for (guint i = packets->len; i > 0; i--) {
		const struct relayfiles_packet *packet =
			&g_array_index(packets, struct relayfiles_packet, i - 1);
		uint64_t *sum = &bytes[packet->key.user == KERNEL_USER];

		if (!is_wanted(packet, extent))
			continue;
		*sum += packet->is.size;
		if (*sum <= SESSION_COPY_MAX)
			g_array_append_val(chosen, *packet);
		else
			*whole = false;
	}
	return chosen;
}

/* Packets stand in their files in order. */
static gint compare_begins(gconstpointer left, gconstpointer right)
{
	const struct relayfiles_packet *one = left, *other = right;

	return one->is.begin < other->is.begin ? -1 : one->is.begin > other->is.begin;
}

/* @extent is NULL for those of programs. */
static GPtrArray *carve(struct relayfiles *files, const GArray *packets, const struct why_extent *extent,
	const char *scratch, bool *whole)
{
	g_autoptr(GArray) chosen = choose(packets, extent, whole);
	char error[RELAY_CARVE_ERROR];
	GPtrArray *traces;

	g_array_sort(chosen, compare_begins);
	traces = relay_carve(files, (const struct relayfiles_packet *)(const void *)chosen->data, chosen->len,
		scratch, error);
	if (!traces)
		log_error("%s", error);
	return traces;
}

/* Whether the kernel has a trace, but no packet of it is known. */
static bool hides_kernel(struct relayfiles *files, const GArray *packets)
{
	const struct stream_key kernel = {.user = KERNEL_USER, .bits = KERNEL_BITS};
	int folder;

	for (guint i = 0; i < packets->len; i++)
		if (g_array_index(packets, struct relayfiles_packet, i).key.user == KERNEL_USER)
			return false;
	folder = relayfiles_open_trace(files, &kernel, NULL);
	if (folder < 0)
		return errno != ENOENT;
	close(folder);
	return true;
}

/* Sessions */

static GPtrArray *copy(
	struct relayfiles *files, const struct config *config, uint64_t id, const char *scratch, bool *unread)
{
	g_autoptr(GArray) packets = g_array_new(FALSE, FALSE, sizeof(struct relayfiles_packet));
	struct relay_found all = {.packets = packets, .most = G_MAXUINT / 2};
	struct positions *none = positions_create();
	struct why_extent extent;
	GPtrArray *traces;
	char error[256];
	bool found, whole;

	*unread = false;
	if (relay_scan(files, none, &all, error, sizeof(error)) != RELAY_WHOLE) {
		log_warning("%s", error);
		*unread = hides_kernel(files, packets);
	}
	positions_destroy(none);
	traces = carve(files, packets, NULL, scratch, &whole);
	found = traces && why_locate(config, id, traces, &extent);
	if (traces)
		g_ptr_array_unref(traces);
	traces = found ? carve(files, packets, &extent, scratch, &whole) : NULL;
	if (traces && !whole)
		log_warning("more than %" PRIu64 " MiB were recorded in that time: some of it is left out",
			SESSION_COPY_MAX >> 20);
	return traces;
}

GPtrArray *session_copy(const struct config *config, const char *typed, const char *scratch, bool *unread)
{
	g_autoptr(GArray) sessions = list_sessions(config);
	GPtrArray *traces = NULL;
	uint64_t id = 0;

	around_parse(typed, &id);

	for (guint i = 0; i < sessions->len && !traces && !guard_interrupted(); i++) {
		struct relayfiles *files;
		char error[256];

		if (relayfiles_open(config->relay_output,
			    &g_array_index(sessions, struct session_identity, i), &files, error,
			    sizeof(error)) != RELAYFILES_OK) {
			log_error("%s", error);
			continue;
		}
		traces = copy(files, config, id, scratch, unread);
		relayfiles_close(files);
	}
	if (!traces && sessions->len && !guard_interrupted())
		log_error("no trace and no span %s is in the agent's files in %s%s: a span is found "
			  "about a second after it ended, until newer ones have taken its room (`disk` in "
			  "[session])",
			typed, config->relay_output, why_id_hint(typed));
	return traces;
}

void session_remove(const char *scratch)
{
	relay_carve_remove(scratch);
}
