/* SPDX-License-Identifier: BSD-2-Clause */
/* What is wrong with the outputs: collectors that take no spans, and spools that nobody empties. */
#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/proxyurl.h"
#include "config/outputtype.h"
#include "config/ownport.h"
#include "output/spool/spoollist.h"
#include "output/spool/spoolname.h"
#include "status/doctor.h"
#include "status/remedy.h"
#include "status/serverstate.h"

/* Servers */

/* "the collector of output b at 10.0.0.1:9410": an output is named if there are several. */
static GString *describe(
	const struct status *status, const struct output_state *output, const char *kind, const char *server)
{
	const struct output_config *is = config_output(status->config, output->name);
	GString *what = g_string_new(kind);
	char way[PROXYURL_WAY];

	if (status->output_count > 1 || strcmp(output->name, SPOOLNAME_DEFAULT) != 0)
		g_string_append_printf(what, " of output %s", output->name);
	g_string_append_printf(what, " at %s%s", server, is ? proxyurl_way(is->proxy, way) : "");
	return what;
}

/* "; it asked to wait until 12:30:00", in this node's time: an agent does no more than that by itself. */
static void say_asked(GString *what, const struct uplink_server_state *server)
{
	int64_t left = server->asked - clock_monotonic();
	g_autoptr(GDateTime) now = g_date_time_new_now_local(), until = NULL;
	g_autofree char *text = NULL;

	if (!server->asked || left <= 0)
		return;
	until = g_date_time_add(now, left / 1000);
	text = g_date_time_format(until, "%H:%M:%S");
	g_string_append_printf(what, "; it asked to wait, and the agent does so until %s", text);
}

static const char *place_words(const struct uplink_state *uplink)
{
	return output_type_has_directory(output_type_named(uplink->type)) ? "the directory" : "the collector";
}

/* No server takes spans: all that fail, in the order of preference. */
static void add_down(
	struct findings *findings, const struct status *status, const struct output_state *output)
{
	const struct uplink_state *uplink = &output->uplink;
	g_autofree char *fix = NULL;
	enum fault fault = FAULT_NONE;
	GString *what = NULL;

	for (uint32_t i = 0; i < uplink->server_count; i++) {
		const struct uplink_server_state *server = &uplink->servers[i];

		if (!server->fault)
			continue;
		if (what) {
			g_string_append_printf(what, "; nor does %s: %s", server->server, server->error);
			say_asked(what, server);
			continue;
		}
		fault = server->fault;
		what = describe(status, output, place_words(uplink), server->server);
		g_string_append_printf(what, " takes no %s: %s", kind_name(output->kind), server->error);
		say_asked(what, server);
	}
	fix = remedy_describe(status, output, fault);
	finding_add(findings, remedy_code(fault), fix, "%s", what->str);
	g_string_free(what, TRUE);
}

/* Servers that should have the spans, while another one has them. */
static void add_preferred(
	struct findings *findings, const struct status *status, const struct output_state *output)
{
	const struct uplink_state *uplink = &output->uplink;

	for (uint32_t i = 0; i < uplink->server_count && !uplink->servers[i].serving; i++) {
		const struct uplink_server_state *server = &uplink->servers[i];
		g_autofree char *fix = NULL;
		GString *what;

		if (!server->fault || (server->unsteady && !server_state_is_down(server)))
			continue;
		fix = remedy_describe(status, output, server->fault);
		what = describe(status, output, "the preferred collector", server->server);
		g_string_append_printf(what, " takes no %s, and %s gets them: %s", kind_name(output->kind),
			uplink->server, server->error);
		finding_add(findings, "output-preferred", fix, "%s", what->str);
		g_string_free(what, TRUE);
	}
}

/* Servers that fail and recover again and again, and the others take over meanwhile, or spans wait. */
static void add_unsteady(
	struct findings *findings, const struct status *status, const struct output_state *output)
{
	const struct uplink_state *uplink = &output->uplink;
	const char *advice = output_type_named(uplink->type)->unsteady;
	bool beyond = false;

	for (uint32_t i = 0; i < uplink->server_count && !beyond; i++) {
		const struct uplink_server_state *server = &uplink->servers[i];
		GString *what;

		beyond = server->serving;
		if (!server->unsteady || server_state_is_down(server))
			continue;
		what = describe(status, output, place_words(uplink), server->server);
		g_string_append_printf(what,
			" fails again and again, and recovers each time; the last failure: %s", server->last);
		finding_add(findings, "output-unsteady",
			advice ? advice
			       : "read the collector's log, and that of a proxy before it: one of them may "
				 "be "
				 "overloaded, or restart again and again",
			"%s", what->str);
		g_string_free(what, TRUE);
	}
}

/* A spool or a queue that has not got less for so long will not, with what comes now. */
#define SLOW_NS (10 * NS_PER_SECOND)

/* What waits on disk does not get less, or what waits in memory waits for long, and gets more. */
static bool grows(const struct output_state *output)
{
	const struct spooler_state *spool = &output->spool;

	if (spool->drain == DRAIN_STOPPED && clock_monotonic() - spool->drain_since >= SLOW_NS)
		return true;
	return output->queue_wait_ns >= SLOW_NS && (output->queue_grows || spool->drain == DRAIN_STOPPED);
}

/* It takes spans, but fewer than come: they wait longer and longer, until there is no room. */
static void add_slow(
	struct findings *findings, const struct status *status, const struct output_state *output)
{
	const struct spooler_state *spool = &output->spool;
	g_autofree char *fix = NULL;
	char some[HUMAN_MAX];
	GString *what;

	if (server_state_of(&output->uplink) != SERVER_STATE_DELIVERS ||
		!(grows(output) || output->queue_bytes > output->queue_limit / 10 * 8))
		return;
	what = describe(status, output, place_words(&output->uplink), output->uplink.server);
	g_string_append_printf(what, " takes %s more slowly than they come: %s wait for it",
		kind_name(output->kind), human_size(some, output->queue_bytes + spool->bytes));
	fix = kind_text(output->kind,
		"make the collector faster (read its log), or let fewer spans come: `blkin sampling 1/10`, "
		"or "
		"`keep` of the output");
	finding_add(findings, "output-slow", fix, "%s", what->str);
	g_string_free(what, TRUE);
}

/* Servers that take what is sent, but do not end their answers. */
static void add_endless(
	struct findings *findings, const struct status *status, const struct output_state *output)
{
	const struct uplink_state *uplink = &output->uplink;

	for (uint32_t i = 0; i < uplink->server_count; i++) {
		GString *what;

		if (!uplink->servers[i].endless)
			continue;
		what = describe(status, output, "the collector", uplink->servers[i].server);
		g_string_append(what,
			" does not end its answers, though it stays connected: each call takes a "
			"connection of its own, and longer than it should");
		finding_add(findings, "output-endless",
			"correct the collector, or the proxy before it: an answer has a Content-Length, or "
			"chunks "
			"of "
			"which the last is empty, or ends with the connection",
			"%s", what->str);
		g_string_free(what, TRUE);
	}
}

/* Files that were renewed, and cannot be used: it delivers until the ones before are not good any more. */
static void add_outdated(
	struct findings *findings, const struct status *status, const struct output_state *output)
{
	const struct output_config *is = config_output(status->config, output->name);
	const char *why = output->uplink.tls_outdated;

	if (*why)
		finding_add(findings, "output-tls-old",
			"correct the file, or let the agent's user read it (`blkin validate` tries it), "
			"before "
			"what is in use expires: the agent goes on by itself once it can",
			"[%s] uses its TLS files as they were before they changed: %s",
			is ? is->section : output->name, why);
}

/* It sends to what is no collector for certain, whether or not anything was sent yet. */
static bool add_own_port(
	struct findings *findings, const struct status *status, const struct output_state *output)
{
	const struct output_config *is = config_output(status->config, output->name);
	struct address address;
	char server[ADDRESS_TEXT];
	const char *words = is ? ownport_find(status->config, is, &address) : NULL;
	g_autofree char *fix = NULL;

	if (!words)
		return false;
	address_print(&address, server);
	fix = g_strdup_printf("correct `%s` in [%s]: it names the collector's host and port",
		output_type_of(is)->place, is->section);
	finding_add(findings, "output-own-port", fix, "[%s] sends to %s, which is %s", is->section, server,
		words);
	return true;
}

/* Batches that it fails on, among others that it takes. */
static void add_suspects(
	struct findings *findings, const struct status *status, const struct output_state *output)
{
	const struct suspects_state *suspects = &output->uplink.suspects;
	GString *what = describe(status, output, "the collector", output->uplink.server);
	g_autofree char *items = kind_text(output->kind, suspects->spans == 1 ? "span is" : "spans are");

	g_string_append_printf(what,
		" fails each time that certain %s come, and takes others: %s; %" PRIu64
		" %s set aside until the bad one is found",
		kind_name(output->kind), suspects->error, suspects->spans, items);
	finding_add(findings, "output-suspects",
		"look into the collector's log; `blkin spool list` shows what is dropped for it", "%s",
		what->str);
	g_string_free(what, TRUE);
}

/* Nobody says what it is to keep. */
static void add_budget_file(struct findings *findings, const struct output_state *output)
{
	const struct sharing_state *sharing = &output->sharing;

	if (!*sharing->error)
		return;
	finding_add(findings, "budget-file",
		"write the share into the file, as 1/12.5, or correct `budget-file`: it is read each second",
		"output %s keeps 1/%.4g of the traces%s, as the file that says the share cannot be used: %s",
		output->name, 1 / sharing->part, sharing->by == SHARING_FILE ? " for now" : "",
		sharing->error);
}

/* What somebody removed */

/* So long it is said, that somebody looks for who it was. */
#define REMOVED_NS (600 * NS_PER_SECOND)

static bool is_late(int64_t at)
{
	return !at || clock_monotonic() - at > REMOVED_NS;
}

/* From an unfinished file. */
static void add_file_removed(
	struct findings *findings, const struct status *status, const struct output_state *output)
{
	const struct uplink_state *uplink = &output->uplink;
	GString *what;

	if (is_late(uplink->lost_at))
		return;
	what = describe(status, output, "the directory", uplink->server);
	finding_add(findings, "file-removed",
		"find out who does so: files whose names end in .part are the agent's until they have "
		"another "
		"name",
		"somebody removed, renamed or cut the unfinished file in %s, %lld s ago: %" PRId64
		" %s are lost, "
		"and counted",
		what->str, (long long)((clock_monotonic() - uplink->lost_at) / NS_PER_SECOND), uplink->lost,
		kind_name(output->kind));
	g_string_free(what, TRUE);
}

/* Spools */

static void add_spool_error(
	struct findings *findings, const struct status *status, const struct output_state *output)
{
	bool named = status->output_count > 1;

	if (output->spool.max_bytes && !output->spool.ok && output->spool.error[0])
		finding_add(findings, "spool-failing",
			"repair what it says, the disk, say, or make room on it; until then spans wait in "
			"memory",
			"the spool%s%s stores no %s: %s", named ? " of output " : "",
			named ? output->name : "", kind_name(output->kind), output->spool.error);
}

static void add_spool_removed(
	struct findings *findings, const struct status *status, const struct output_state *output)
{
	const struct spooler_state *spool = &output->spool;
	bool named = status->output_count > 1;

	if (!is_late(spool->removed_at))
		finding_add(findings, "spool-removed",
			"find out who does so; `blkin spool discard` gives up what waits, and nothing else "
			"should touch the spool's files",
			"somebody removed, replaced or cut files of the spool%s%s while the agent had them "
			"open, %lld s ago: %" PRId64 " %s are lost, and counted",
			named ? " of output " : "", named ? output->name : "",
			(long long)((clock_monotonic() - spool->removed_at) / NS_PER_SECOND), spool->lost,
			kind_name(output->kind));
}

static bool has_spool(const struct status *status, const char *name)
{
	for (size_t i = 0; i < status->output_count; i++)
		if (strcmp(status->outputs[i].name, name) == 0)
			return status->outputs[i].spool.max_bytes > 0;
	return false;
}

/* What would bring the spool's output back. */
static char *describe_return(const struct status *status, const struct spool_found *spool)
{
	const struct output_config *is = config_output(status->config, spool->output);

	size_t size;
	const enum kind kind = lane_kind(spool->output, &size);

	if (!is)
		return g_strdup_printf(
			"put section [output %.*s] back, and reload the agent", (int)size, spool->output);
	if (config_output_delivers(is) && !config_lane_is_on(is, kind))
		return g_strdup_printf(
			"add `%s` to `takes` in [%s], and reload the agent", kind_name(kind), is->section);
	if (!config_output_delivers(is))
		return g_strdup_printf("set `type` in [%s] again, and reload the agent", is->section);
	return g_strdup_printf("set `spool-size` in [%s], and restart the agent", is->section);
}

static void add_left(struct findings *findings, const struct status *status, const struct spool_found *spool)
{
	g_autofree char *back = describe_return(status, spool);
	g_autofree char *fix =
		g_strdup_printf("to deliver them, %s; to give them up: blkin spool discard --output %s%s",
			back, spool->output, status->config->user ? " --user" : "");

	const bool one = spool->spans == 1;
	g_autofree char *items = kind_text(lane_kind(spool->output, NULL), one ? "span waits" : "spans wait");

	if (!spool->counted)
		finding_add(findings, "spool-left", fix,
			"%s in %s, nobody knows how many, and no output delivers them", items, spool->path);
	else if (spool->spans > 0)
		finding_add(findings, "spool-left", fix, "%" PRId64 " %s in %s, and no output delivers %s",
			spool->spans, items, spool->path, one ? "it" : "them");
}

void findings_add_outputs(struct findings *findings, const struct status *status)
{
	const GPtrArray *spools = status->activity.spools;

	if (!status->output_count)
		finding_add(findings, "no-output",
			"set `type` and `server` in [output], and reload the agent",
			"spans go nowhere: every output has `type = none`");
	for (size_t i = 0; i < status->output_count; i++) {
		const struct output_state *output = &status->outputs[i];
		const struct uplink_server_state *server = server_state_serving(&output->uplink);

		if (add_own_port(findings, status, output))
			continue;
		if (server && server_state_is_down(server))
			add_down(findings, status, output);
		else if (server && !server->fault)
			add_preferred(findings, status, output);
		add_unsteady(findings, status, output);
		add_slow(findings, status, output);
		add_endless(findings, status, output);
		add_outdated(findings, status, output);
		if (output->uplink.suspects.error[0])
			add_suspects(findings, status, output);
		add_budget_file(findings, output);
		add_file_removed(findings, status, output);
		add_spool_removed(findings, status, output);
		add_spool_error(findings, status, output);
	}
	for (guint i = 0; spools && i < spools->len; i++) {
		const struct spool_found *spool = g_ptr_array_index(spools, i);

		if (!has_spool(status, spool->output))
			add_left(findings, status, spool);
	}
}
