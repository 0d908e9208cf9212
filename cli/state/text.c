/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/text.h"

#include "base/human.h"
#include "config/inputtypes.h"

/* So long after the first event it is known whose ring buffers there are, s: the reader looks every ten. */
#define LOOKS_S 20

static void put_head(struct buffer *out, struct told state)
{
	told_put(out, state, "blkin-agent {version}, pid {pid}, up {up_seconds|age}\n");
	told_put_if(out, state, "page", "page {page}");
	told_put_if(out, state, "page_token", " (`blkin page` lets a browser in)");
	told_put_if(out, state, "page", "\n");
	told_put(out, state, "\n");
}

/* How many programs there are to collect from, if that is known. */
static void put_programs(struct buffer *out, struct told state)
{
	if (told_is_null(state, "programs"))
		return;
	told_put(out, state, ", from {programs} program{programs|s}");
	if (!told_is_null(state, "programs_with_blkin") &&
		told_number(state, "programs_with_blkin") != told_number(state, "programs"))
		told_put(out, state, ", {programs_with_blkin} of them with blkin");
}

static void put_session(struct buffer *out, struct told state)
{
	told_put(out, state,
		told_is_null(state, "last_event_seconds")
			? "  session   `{session}`, no event yet\n"
			: "  session   `{session}`, last event {last_event_seconds|age} ago\n");
}

/* What the agent itself has recorded. */
static void put_canary(struct buffer *out, struct told state)
{
	static const struct told_words states[] = {
		{"missing", "  canary    none: {error}\n"},
		{"unrecorded", "  canary    not recorded for {away_seconds|age}\n"},
		{"late", "  canary    away for {lag_seconds|age}\n"},
		{"well", "  canary    back after {lag_seconds|time}, {last_seconds|age} ago\n"},
		{"starts", "  canary    not back yet\n"},
		{0},
	};

	told_put_by(out, told_at(state, "canary"), "state", states);
}

/* What LTTng has for those who record; and what an older one does not do by itself, which is nothing to do.
 */
static void put_buffers(struct buffer *out, struct told state)
{
	if (told_is_null(state, "lttng_heals"))
		return;
	told_put(out, state, "  buffers   ");
	if (told_number(state, "buffers.users")) {
		told_put(out, state, "{buffers.bytes|size} of ");
		told_put_if(out, state, "buffers.more_users", "more than ");
		told_put(out, state, "{buffers.users} user{buffers.users|s}");
	} else {
		bool soon = !told_is_null(state, "last_event_seconds") &&
			    told_number(state, "last_event_seconds") < LOOKS_S;

		told_put(out, state, soon ? "not known yet" : "none");
	}
	told_put(out, state, told_has(state, "lttng_heals") ? "\n" : "; LTTng before 2.15: see blkin(1)\n");
}

static void put_events(struct buffer *out, struct told state)
{
	told_put(out, state, "  events    {events.read} read: {events.in_spans} in spans, ");
	told_put_if(out, state, "events.json", "{events.json} as JSON, ");
	told_put(out, state, "{events.rejected} rejected, {events.ignored} ignored\n");
	/* of `spans` in [events], where something is missing */
	if (told_number(state, "events.pairs"))
		told_put(out, state,
			"  pairs     {events.pairs.no_exit} without EXIT, {events.pairs.no_enter} without "
			"ENTER, {events.pairs.malformed} malformed\n");
}

/* Shown while late traces are to be kept, and as long as there is something in their rows. */
static void put_flight(struct buffer *out, struct told state)
{
	if (told_has(state, "flight_on") || told_number(state, "flight"))
		told_put(out, state,
			"  flight    {flight.kept} late traces kept, {flight.refused} refused, "
			"{flight.failed} "
			"failed\n");
}

static void put_collecting(struct buffer *out, struct told state)
{
	bool collecting = told_has(state, "collecting");

	told_put(out, state, collecting ? "collecting  yes" : "collecting  NO");
	if (collecting)
		put_programs(out, state);
	told_put(out, state, ", for {collecting_seconds|age}\n");
	told_put_if(out, state, "session_error", "  {session_error}\n");
	if (collecting)
		put_session(out, state);
	put_canary(out, state);
	if (collecting)
		put_buffers(out, state);
	told_put_if(out, state, "events_error", "  {events_error}\n");
	told_put_if(out, state, "kernel_error", "  {kernel_error}\n");
	if (!told_is_null(state, "spans_per_second"))
		told_put(out, state, "  now       {spans_per_second|rate} spans a second\n");
	put_events(out, state);
	put_flight(out, state);
}

static struct told input_of(struct told state, size_t index)
{
	return index ? told_at(told_at(state, "inputs"), input_keys[index]) : told_at(state, "input");
}

/* Scribe's is the one that has no name. */
static void put_input(struct buffer *out, struct told input, size_t index)
{
	bool on = told_has(input, "address");

	told_put(out, input,
		!on                        ? "taking in   no"
		: told_has(input, "error") ? "taking in   NO"
					   : "taking in   yes");
	told_put_if(out, input, "address", ", at {address}");
	if (on && index)
		buffer_printf(out, " (%s)", input_keys[index]);
	told_put_if(out, input, "address", ", from {connections} connection{connections|s}");
	told_put_if(out, input, "putting_off", ", which are told to try later");
	told_put(out, input, "\n");
	told_put_if(out, input, "error", "  {error}\n");
}

/* Shown while one of them is on, and as long as there is something in their rows. */
static void put_inputs(struct buffer *out, struct told state)
{
	char some[HUMAN_MAX], all[HUMAN_MAX];
	uint64_t bytes = 0, limit = 0;

	for (size_t i = 0; i < INPUTS; i++) {
		struct told input = input_of(state, i);

		if (!told_has(input, "address"))
			continue;
		put_input(out, input, i);
		bytes += (uint64_t)told_number(input, "bytes");
		limit += (uint64_t)told_number(input, "max_bytes");
	}
	if (!limit && !told_has(state, "input.messages"))
		return;
	if (!limit)
		put_input(out, input_of(state, 0), 0);
	told_put(out, state, "  messages  {input.messages}: {spans.received} spans, ");
	told_put_if(out, state, "input.taken", "{input.taken} taken as they are, ");
	told_put(out, state, "{input.refused} refused, {input.put_off} put off\n");
	if (limit)
		buffer_printf(out, "  memory    %s of %s\n", human_size(some, bytes), human_size(all, limit));
}

/* A line for each row, behind the output's name if there are several. */
static void put_losses(struct buffer *out, struct told state)
{
	struct told losses = told_at(state, "losses"), loss = {0};
	char since[HUMAN_MAX];

	buffer_printf(out, "lost");
	if (!told_is_null(state, "acknowledged"))
		buffer_printf(out, " since %s", human_moment(since, told_number(state, "acknowledged")));
	buffer_printf(out, "\n");
	while (told_next(losses, &loss)) {
		buffer_printf(out, "  %12" G_GINT64_FORMAT "  ", told_number(loss, "amount"));
		told_put_if(out, loss, "output", "{output}: ");
		told_put(out, loss,
			told_is_null(loss, "last_seconds") ? "{what}; before the agent started\n"
							   : "{what}; the last {last_seconds|age} ago\n");
	}
	if (!loss.at)
		buffer_printf(out, "  nothing\n");
}

/* What does not collect, or deliver, for a moment is no finding yet. */
static void put_findings(struct buffer *out, struct told state)
{
	struct told findings = told_at(state, "findings"), finding = {0};

	buffer_printf(out, "to do\n");
	while (told_next(findings, &finding))
		told_put(out, finding, "  {what}\n    -> {fix}\n");
	if (!finding.at)
		buffer_printf(out, told_has(state, "collecting") && state_delivers(state)
					   ? "  nothing\n"
					   : "  nothing yet\n");
}

bool state_text(struct buffer *out, const char *json)
{
	struct telling telling;
	struct told state = told_open(&telling, json);

	put_head(out, state);
	put_collecting(out, state);
	put_inputs(out, state);
	state_put_outputs(out, state);
	put_losses(out, state);
	put_findings(out, state);
	buffer_put(out, "", 1);
	return told_close(&telling);
}
