/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/status.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/sanitize.h"
#include "status/doctor.h"
#include "status/lossrows.h"
#include "status/serverstate.h"

struct status *status_create(const struct status_source *source)
{
	struct status *status = g_new0(struct status, 1);
	struct outputs_counts counts;

	status->config = source->config;
	status->reload = source->reload;
	counts = outputs_read(source->outputs, &status->rows, status->outputs, G_N_ELEMENTS(status->outputs));
	ledger_read_losses(status->lost);
	ledger_read_acknowledged(&status->acknowledged);
	status->output_count = counts.on;
	status->leaving_count = counts.leaving;
	supervisor_read_state(source->supervisor, &status->supervisor);
	if (source->inputs)
		inputs_read_state(source->inputs, status->inputs);
	status->http_error = source->http_error ? source->http_error : "";
	status->monitor = source->monitor;
	status->page = "";
	status->forgets = source->forgets;
	status->started = source->started;
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

const char *status_time(char text[STATUS_TIME_MAX], int64_t seconds)
{
	time_t when = (time_t)seconds;
	struct tm is;

	if (!localtime_r(&when, &is) || !strftime(text, STATUS_TIME_MAX, "%Y-%m-%d %H:%M", &is))
		*text = '\0';
	return text;
}

/*
 * The histogram's bucket that holds the share @q of all spans; LEDGER_BUCKETS is the one without a bound, -1
 * means that there are no spans.
 */
static int quantile(const struct ledger_latency *latency, double q)
{
	uint64_t total = 0, below = 0;
	int i = 0;

	for (int k = 0; k <= LEDGER_BUCKETS; k++)
		total += latency->bucket[k];
	if (!total)
		return -1;
	below = latency->bucket[0];
	while (i < LEDGER_BUCKETS && (double)below < q * (double)total)
		below += latency->bucket[++i];
	return i;
}

/* A time that has passed: in whole seconds at least. */
static void write_time(struct buffer *out, int64_t ns)
{
	char text[HUMAN_MAX];

	buffer_printf(out, "%s", human_time(text, ns - ns % NS_PER_SECOND));
}

/* "within 200 ms"; of the last bucket no more is known than where it begins. */
static void write_bucket(struct buffer *out, int bucket)
{
	bool bounded = bucket < LEDGER_BUCKETS;
	char text[HUMAN_MAX];

	buffer_printf(out, " %s %s", bounded ? "within" : "after more than",
		human_time(
			text, (int64_t)(ledger_bucket_seconds[bounded ? bucket : LEDGER_BUCKETS - 1] * 1e9)));
}

static void write_latency(struct buffer *out, const struct output_state *output)
{
	const struct ledger_latency *latency = &output->account.latency;
	int half = quantile(latency, 0.5), most = quantile(latency, 0.99);

	if (half < 0)
		return;
	buffer_printf(out, "  latency   half of the %s", kind_name(output->kind));
	write_bucket(out, half);
	if (most < LEDGER_BUCKETS) {
		buffer_printf(out, ", 99 %%");
		write_bucket(out, most);
	} else if (half < LEDGER_BUCKETS) {
		buffer_printf(out, ", some");
		write_bucket(out, most);
	}
	buffer_printf(out, "\n");
}

/* Words from outside, on a line that others take apart. */
static void write_plain(struct buffer *out, const char *text)
{
	size_t begin = out->size;

	buffer_printf(out, "%s", text);
	words_clean((char *)out->data + begin, out->size - begin);
}

/* Words from outside, on a line of their own. */
static void write_said(struct buffer *out, const char *text)
{
	buffer_printf(out, "  ");
	write_plain(out, text);
	buffer_printf(out, "\n");
}

/* "67.1 MiB of 1 GiB" */
static void write_share(struct buffer *out, const char *label, uint64_t used, uint64_t limit)
{
	char some[HUMAN_MAX], all[HUMAN_MAX];

	buffer_printf(out, "  %-9s %s of %s", label, human_size(some, used), human_size(all, limit));
}

static void write_drain(struct buffer *out, const struct spooler_state *spool)
{
	if (spool->drain == DRAIN_STOPPED)
		buffer_printf(out, ", not draining");
	if (spool->drain == DRAIN_BEGINS)
		buffer_printf(out, ", being delivered");
	if (spool->drain != DRAIN_KNOWN)
		return;
	buffer_printf(out, ", delivered in about ");
	write_time(out, spool->drain_seconds * NS_PER_SECOND);
}

/* The file of a spool does not get smaller as it is emptied. */
static void write_spool(struct buffer *out, const struct spooler_state *spool)
{
	if (!spool->max_bytes)
		return;
	write_share(out, "spool", spool->bytes, spool->max_bytes);
	if (spool->bytes && spool->ok && !spool->batches)
		buffer_printf(out, ", empty");
	write_drain(out, spool);
	buffer_printf(out, "\n");
	if (spool->error[0])
		write_said(out, spool->error);
}

/* A line for each row, behind the output's name if there are several. */
static void write_loss(void *data, const struct lossrow *row)
{
	struct buffer *out = data;

	buffer_printf(out, "  %12" PRId64 "  %s%s%s; ", row->amount, row->output, *row->output ? ": " : "",
		row->words);
	if (row->at) {
		buffer_printf(out, "the last ");
		write_time(out, clock_monotonic() - row->at);
		buffer_printf(out, " ago\n");
	} else {
		buffer_printf(out, "before the agent started\n");
	}
}

static void write_losses(struct buffer *out, const struct status *status)
{
	char since[STATUS_TIME_MAX];
	size_t before;

	buffer_printf(out, "lost%s%s\n", status->acknowledged.at ? " since " : "",
		status->acknowledged.at ? status_time(since, status->acknowledged.at) : "");
	before = out->size;
	lossrows_each(status, write_loss, out);
	if (out->size == before)
		buffer_printf(out, "  nothing\n");
}

/* How many programs there are to collect from, if that is known. */
static void write_programs(struct buffer *out, const struct status *status)
{
	const struct census *census = &status->census;
	int programs = census->known ? census->programs : status->activity.programs;

	if (programs < 0)
		return;
	buffer_printf(out, " from %d program%s", programs, programs == 1 ? "" : "s");
	if (census->known && census->blkin != programs)
		buffer_printf(out, ", %d of them with blkin", census->blkin);
}

/* Why an output does not deliver. One that has not connected yet tells how long it has been at it. */
static void write_why(struct buffer *out, const struct uplink_state *uplink)
{
	const struct uplink_server_state *server = server_state_serving(uplink);

	if (server && server->connecting_since) {
		buffer_printf(out, "  connecting for ");
		write_time(out, clock_monotonic() - server->connecting_since);
		buffer_printf(out, "\n");
	} else if (uplink->error[0]) {
		write_said(out, uplink->error);
	}
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
			state == SERVER_STATE_UNTRIED ? ", nothing sent yet" : ": ");
		if (state == SERVER_STATE_DOWN)
			write_plain(out, uplink->error[0] ? uplink->error : "not connected yet");
	}
}

void status_write_line(struct buffer *out, const struct status *status)
{
	if (status->supervisor.collecting) {
		buffer_printf(out, "collecting");
		write_programs(out, status);
	} else {
		buffer_printf(out, "NOT collecting: ");
		write_plain(out, status->supervisor.error[0] ? status->supervisor.error : "starting");
	}
	write_deliveries(out, status);
}

void status_write_summary(struct buffer *out, const struct status *status)
{
	buffer_printf(out, status->supervisor.collecting ? "collecting" : "NOT collecting");
	if (status->supervisor.collecting)
		write_programs(out, status);
	write_delivering(out, status);
}

static void write_session(struct buffer *out, const struct status *status, int64_t now)
{
	if (!status->supervisor.collecting)
		return;
	buffer_printf(out, "  session   `");
	write_plain(out, status->supervisor.session);
	buffer_printf(out, "`, ");
	if (status->activity.last_event) {
		buffer_printf(out, "last event ");
		write_time(out, now - status->activity.last_event);
		buffer_printf(out, " ago\n");
	} else {
		buffer_printf(out, "no event yet\n");
	}
}

/* What the agent itself has recorded. */
static void write_canary(struct buffer *out, const struct status *status, int64_t now)
{
	const struct canary_state *canary = &status->canary;
	char lag[HUMAN_MAX];

	switch (canary->mood) {
	case CANARY_OFF:
		return;
	case CANARY_MISSING:
		buffer_printf(out, "  canary    none: ");
		write_plain(out, canary->error);
		buffer_printf(out, "\n");
		return;
	case CANARY_UNRECORDED:
		buffer_printf(out, "  canary    not recorded for ");
		write_time(out, now - canary->since);
		buffer_printf(out, "\n");
		return;
	case CANARY_LATE:
		buffer_printf(out, "  canary    away for ");
		write_time(out, canary->lag);
		buffer_printf(out, "\n");
		return;
	case CANARY_WELL:
		buffer_printf(out, "  canary    back after %s, ", human_time(lag, canary->lag));
		write_time(out, now - canary->came);
		buffer_printf(out, " ago\n");
		return;
	default:
		buffer_printf(out, "  canary    not back yet\n");
	}
}

/* What LTTng has for those who record; and what an older one does not do by itself, which is nothing to do.
 */
static void write_buffers(struct buffer *out, const struct status *status)
{
	const struct user_buffers *buffers = &status->supervisor.buffers;
	char size[HUMAN_MAX];

	if (!status->supervisor.collecting || !buffers->known)
		return;
	buffer_printf(out, "  buffers   %s of %s%u user%s%s\n", human_size(size, userbuffers_sum(buffers)),
		buffers->more ? "more than " : "", buffers->count, buffers->count == 1 ? "" : "s",
		buffers->heals ? "" : "; LTTng before 2.15: see blkin(1)");
}

bool status_is_well(const struct status *status)
{
	bool well = status->supervisor.collecting;

	for (size_t i = 0; i < status->output_count; i++)
		well = well && server_state_of(&status->outputs[i].uplink) != SERVER_STATE_DOWN;
	return well;
}

static void write_findings(struct buffer *out, const struct status *status)
{
	struct findings findings;

	doctor_examine(status, &findings);
	buffer_printf(out, "to do\n");
	for (size_t i = 0; i < findings.count; i++) {
		const struct finding *finding = &findings.list[i];

		write_said(out, finding->what);
		buffer_printf(out, "    -> ");
		write_plain(out, finding->fix);
		buffer_printf(out, "\n");
	}
	if (findings.count == 0)
		buffer_printf(out, status_is_well(status) ? "  nothing\n" : "  nothing yet\n");
}

/* How much comes now, from programs and from inputs. */
static void write_rate(struct buffer *out, const struct status *status)
{
	double rate = status->activity.rate;

	if (rate >= 0)
		buffer_printf(out,
			rate > 0 && rate < 10 ? "  now       %.1f spans a second\n"
					      : "  now       %.0f spans a second\n",
			rate);
}

/* Of `spans` in [events], where something is missing. */
static void write_pairs(struct buffer *out, const int64_t *row)
{
	if (row[PAIRS_WITHOUT_EXIT] || row[PAIRS_WITHOUT_ENTER] || row[PAIRS_MALFORMED])
		buffer_printf(out,
			"  pairs     %" PRId64 " without EXIT, %" PRId64 " without ENTER, %" PRId64
			" malformed\n",
			row[PAIRS_WITHOUT_EXIT], row[PAIRS_WITHOUT_ENTER], row[PAIRS_MALFORMED]);
}

/* Shown while late traces are to be kept, and as long as there is something in their rows. */
static void write_flight(struct buffer *out, const struct status *status)
{
	const int64_t *row = status->rows.row;

	if (config_flies(status->config) || row[FLIGHT_KEPT] || row[FLIGHT_REFUSED] || row[FLIGHT_FAILED])
		buffer_printf(out,
			"  flight    %" PRId64 " late traces kept, %" PRId64 " refused, %" PRId64 " failed\n",
			row[FLIGHT_KEPT], row[FLIGHT_REFUSED], row[FLIGHT_FAILED]);
}

static void write_collecting(struct buffer *out, const struct status *status)
{
	const int64_t *row = status->rows.row;
	int64_t now = clock_monotonic();
	char json[48] = "";

	if (row[EVENTS_AS_JSON])
		snprintf(json, sizeof(json), "%" PRId64 " as JSON, ", row[EVENTS_AS_JSON]);
	buffer_printf(out, "collecting  %s", status->supervisor.collecting ? "yes" : "NO");
	if (status->supervisor.collecting) {
		buffer_printf(out, ",");
		write_programs(out, status);
	}
	buffer_printf(out, ", for ");
	write_time(out, now - status->supervisor.since);
	buffer_printf(out, "\n");
	if (status->supervisor.error[0])
		write_said(out, status->supervisor.error);
	write_session(out, status, now);
	write_canary(out, status, now);
	write_buffers(out, status);
	if (status->supervisor.omissions.events.reason != REASON_NONE)
		write_said(out, status->supervisor.omissions.events.text);
	if (status->supervisor.omissions.kernel.reason != REASON_NONE)
		write_said(out, status->supervisor.omissions.kernel.text);
	write_rate(out, status);
	buffer_printf(out,
		"  events    %" PRId64 " read: %" PRId64 " in spans, %s%" PRId64 " rejected, %" PRId64
		" ignored\n",
		row[EVENTS_READ], row[EVENTS_IN_SPANS], json,
		row[EVENTS_REJECTED_MALFORMED] + row[EVENTS_REJECTED_ID] + row[EVENTS_REJECTED_TIME],
		row[EVENTS_IGNORED]);
	write_pairs(out, row);
	write_flight(out, status);
}

/* Scribe's is the one that has no name. */
static void write_input(struct buffer *out, const struct inlet_state *input, size_t index)
{
	buffer_printf(out, "taking in   %s", !*input->address ? "no" : *input->error ? "NO" : "yes");
	if (*input->address)
		buffer_printf(out, ", at %s%s%s%s, from %u connection%s", input->address, index ? " (" : "",
			index ? input_keys[index] : "", index ? ")" : "", input->connections,
			input->connections == 1 ? "" : "s");
	buffer_printf(out, "%s\n", input->putting_off ? ", which are told to try later" : "");
	if (*input->error)
		write_said(out, input->error);
}

/* Shown while one of them is on, and as long as there is something in their rows. */
static void write_inputs(struct buffer *out, const struct status *status)
{
	const int64_t *row = status->rows.row;
	uint64_t bytes = 0, limit = 0;
	char taken[48] = "";

	for (size_t i = 0; i < INPUTS; i++) {
		const struct inlet_state *input = &status->inputs[i];

		if (!*input->address)
			continue;
		write_input(out, input, i);
		bytes += input->bytes;
		limit += input->limit;
	}
	if (!limit && !row[MESSAGES_RECEIVED])
		return;
	if (!limit)
		write_input(out, &status->inputs[0], 0);
	if (row[MESSAGES_TAKEN])
		snprintf(taken, sizeof(taken), "%" PRId64 " taken as they are, ", row[MESSAGES_TAKEN]);
	buffer_printf(out,
		"  messages  %" PRId64 ": %" PRId64 " spans, %s%" PRId64 " refused, %" PRId64 " put off\n",
		row[MESSAGES_RECEIVED], row[SPANS_RECEIVED], taken,
		row[MESSAGES_REFUSED_CATEGORY] + row[MESSAGES_REFUSED_MALFORMED] + row[MESSAGES_REFUSED_ID] +
			row[MESSAGES_REFUSED_OVERSIZE],
		row[MESSAGES_PUT_OFF]);
	if (!limit)
		return;
	write_share(out, "memory", bytes, limit);
	buffer_printf(out, "\n");
}

/* Which of several the node prefers, which is used, and, if that is another one, why. */
static void write_choice(struct buffer *out, const char *node, uint32_t count, const char *what,
	const char *preferred, const char *used, const char *why)
{
	buffer_printf(out, "  balance   %s prefers %s of %u %s, and uses ", node, preferred, count, what);
	if (!used) {
		buffer_printf(out, "it\n");
		return;
	}
	buffer_printf(out, "%s until that one works again%s", used, *why ? ": " : "");
	write_plain(out, why);
	buffer_printf(out, "\n");
}

/* Where nodes share servers out among them. */
static void write_balance(struct buffer *out, const struct uplink_state *uplink)
{
	const struct reached *reached = &uplink->reached;
	const struct uplink_server_state *first = &uplink->servers[0];

	if (!uplink->node)
		return;
	if (uplink->server_count > 1 && !uplink->up)
		buffer_printf(out, "  balance   %s prefers %s of %u servers, of which none works\n",
			uplink->node, first->server, uplink->server_count);
	else if (uplink->server_count > 1)
		write_choice(out, uplink->node, uplink->server_count, "servers", first->server,
			first->serving ? NULL : uplink->server, first->fault ? first->error : "");
	if (reached->count > 1)
		write_choice(out, uplink->node, reached->count, "addresses", reached->preferred,
			reached->rank == 0 ? NULL : reached->address, reached->why);
	if (uplink->server_count == 1 && reached->count == 1)
		buffer_printf(
			out, "  balance   nothing to choose: there is one server, at %s\n", reached->address);
}

/* Where that is found out. */
static void write_sharing(struct buffer *out, const struct sharing_state *sharing)
{
	static const char *const by[] = {[SHARING_NOBODY] = "as nobody has said what to keep",
		[SHARING_FILE] = "as its file says",
		[SHARING_SERVER] = "as its server says",
		[SHARING_BUDGET] = "for its budget"};

	if (sharing->by != SHARING_OFF)
		buffer_printf(out, "  keeps     1/%.4g of the traces, %s: %.0f spans/s\n", 1 / sharing->part,
			by[sharing->by], sharing->kept);
}

static void write_output(struct buffer *out, const struct status *status, const struct output_state *output)
{
	const int64_t *row = output->account.row;
	bool leaves = output >= status->outputs + status->output_count;
	bool named = status->output_count > 1 || leaves;
	enum server_state state = server_state_of(&output->uplink);
	static const char *const words[] = {[SERVER_STATE_DOWN] = "NO",
		[SERVER_STATE_UNTRIED] = "connected, nothing sent yet",
		[SERVER_STATE_DELIVERS] = "yes"};
	int64_t pending = leaves || output->kind != KIND_SPANS ? 0 : status->rows.row[SPANS_PENDING];

	buffer_printf(out, "delivering  %s%s%s, to %s%s\n", named ? output->name : "", named ? ": " : "",
		words[state], output->uplink.server,
		leaves ? " (removed; what it has is delivered or stored)" : "");
	if (state == SERVER_STATE_DOWN)
		write_why(out, &output->uplink);
	write_balance(out, &output->uplink);
	write_sharing(out, &output->sharing);
	buffer_printf(out,
		"  %-9s %" PRId64 ": %" PRId64 " sent, %" PRId64 " pending, %" PRId64 " queued, %" PRId64
		" spooled, ",
		kind_name(output->kind), row[SPANS_TAKEN] + row[SPANS_RECOVERED] + pending, row[SPANS_SENT],
		pending, row[SPANS_QUEUED] + row[SPANS_HELD], row[SPANS_SPOOLED]);
	if (row[SPANS_UNDECIDED])
		buffer_printf(out, "%" PRId64 " undecided, ", row[SPANS_UNDECIDED]);
	if (row[SPANS_GIVEN_BACK])
		buffer_printf(out, "%" PRId64 " given back, ", row[SPANS_GIVEN_BACK]);
	if (row[SPANS_SAMPLED_OUT])
		buffer_printf(out, "%" PRId64 " sampled out, ", row[SPANS_SAMPLED_OUT]);
	buffer_printf(out, "%" PRId64 " dropped\n", account_dropped(output->account.row));
	if (row[SPANS_ASKED])
		buffer_printf(out, "  traces    %" PRId64 " spans kept, as other agents keep their traces\n",
			row[SPANS_ASKED]);
	write_share(out, "queue", output->queue_bytes, output->queue_limit);
	buffer_printf(out, "\n");
	write_spool(out, &output->spool);
	write_latency(out, output);
}

void status_write_text(struct buffer *out, const struct status *status)
{
	buffer_printf(out, "blkin-agent %s, pid %d, up ", BLKIN_VERSION, (int)getpid());
	write_time(out, clock_wall() - status->started);
	buffer_printf(out, "\n");
	if (*status->page)
		buffer_printf(out, "page %s%s\n", status->page,
			status->config->page == CONFIG_PAGE_TOKEN ? " (`blkin page` lets a browser in)" : "");
	buffer_printf(out, "\n");
	write_collecting(out, status);
	write_inputs(out, status);
	for (size_t i = 0; i < status->output_count + status->leaving_count; i++)
		write_output(out, status, &status->outputs[i]);
	if (!status->output_count)
		buffer_printf(out, "delivering  nowhere: every output has `type = none`\n");
	write_losses(out, status);
	write_findings(out, status);
}
