/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/status.h"

#include <glib.h>

#include "base/sanitize.h"
#include "status/serverstate.h"

static void read_outputs(struct status *status, const struct status_source *source)
{
	struct outputs_counts counts =
		outputs_read(source->outputs, &status->rows, status->outputs, G_N_ELEMENTS(status->outputs));

	status->output_count = counts.on;
	status->leaving_count = counts.leaving;
}

struct status *status_create(const struct status_source *source)
{
	struct status *status = g_new0(struct status, 1);

	status->config = source->config;
	status->reload = source->reload;
	read_outputs(status, source);
	ledger_read_losses(status->lost);
	ledger_read_acknowledged(&status->acknowledged);
	supervisor_read_state(source->supervisor, &status->supervisor);
	if (source->inputs)
		inputs_read_state(source->inputs, status->inputs);
	status->http_error = source->http_error ? source->http_error : "";
	status->monitor = source->monitor;
	status->page = "";
	status->forgets = source->forgets;
	status->started = source->started;
	status->begun = source->begun;
	activity_read(source->activity, &status->activity);
	/* ring buffers may have grown, which the reader knows */
	status->activity.memory.need =
		MAX(status->activity.memory.need, userbuffers_most(&status->supervisor.buffers));
	status->progress = supervisor_reader_progress(source->supervisor);
	status->asks = true;
	supervisor_read_canary(source->supervisor, &status->canary);
	supervisor_read_flight(source->supervisor, &status->flight);
	status->left_out_count =
		supervisor_left_out(source->supervisor, status->left_out, STATUS_LEFT_OUT_MAX);
	status->lacks_memory = supervisor_lacks_memory(source->supervisor);
	return status;
}

void status_destroy(struct status *status)
{
	g_free(status);
}

/* Words from outside, on a line that others take apart. */
static void write_plain(struct buffer *out, const char *text)
{
	size_t begin = out->size;

	buffer_printf(out, "%s", text);
	words_clean((char *)out->data + begin, out->size - begin);
}

/* How many programs there are to collect from, if that is known. */
static void write_programs(struct buffer *out, const struct status *status)
{
	int programs = status->activity.programs;

	if (programs >= 0)
		buffer_printf(out, " from %d program%s", programs, programs == 1 ? "" : "s");
}

/* "; delivering to 10.0.0.1:9410"; of several outputs, those that do not deliver are named. */
static void write_delivering(struct buffer *out, const struct status *status)
{
	size_t count = status->output_count, up = 0;

	for (size_t i = 0; i < count; i++)
		up += server_state_of(&status->outputs[i].uplink) == SERVER_STATE_DELIVERS;
	if (count == 0)
		buffer_printf(out, "; delivering nowhere");
	else if (count > 1)
		buffer_printf(out, "; delivering to %zu of %zu outputs", up, count);
	else if (up)
		buffer_printf(out, "; delivering to %s", status->outputs[0].uplink.server);
}

static void write_deliveries(struct buffer *out, const struct status *status)
{
	size_t count = status->output_count;

	write_delivering(out, status);
	for (size_t i = 0; i < count; i++) {
		const struct uplink_state *uplink = &status->outputs[i].uplink;

		enum server_state state = server_state_of(uplink);

		if (state == SERVER_STATE_DELIVERS)
			continue;
		buffer_printf(out, "; %s %s%s%s%s",
			state == SERVER_STATE_UNTRIED ? "connected to" : "NOT delivering to",
			count > 1 ? status->outputs[i].name : "", count > 1 ? " at " : "", uplink->server,
			state == SERVER_STATE_UNTRIED ? ", nothing sent there yet" : ": ");
		if (state == SERVER_STATE_DOWN)
			write_plain(out, uplink->error[0] ? uplink->error : "not connected yet");
	}
}

void status_write_line(struct buffer *out, const struct status_source *source)
{
	struct status *status = g_new0(struct status, 1);

	read_outputs(status, source);
	supervisor_read_state(source->supervisor, &status->supervisor);
	status->activity.programs = activity_programs(source->activity);
	if (status->supervisor.collecting) {
		buffer_printf(out, "collecting");
		write_programs(out, status);
	} else {
		buffer_printf(out, "NOT collecting: ");
		write_plain(out, status->supervisor.error[0] ? status->supervisor.error : "starting");
	}
	write_deliveries(out, status);
	status_destroy(status);
}

void status_write_summary(struct buffer *out, const struct status *status)
{
	buffer_printf(out, status->supervisor.collecting ? "collecting" : "NOT collecting");
	if (status->supervisor.collecting)
		write_programs(out, status);
	write_delivering(out, status);
}

bool status_is_well(const struct status *status)
{
	bool well = status->supervisor.collecting;

	for (size_t i = 0; i < status->output_count; i++)
		well = well && server_state_of(&status->outputs[i].uplink) != SERVER_STATE_DOWN;
	return well;
}
