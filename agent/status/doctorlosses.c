/* SPDX-License-Identifier: BSD-2-Clause */
/* What is being lost, or was a moment ago, for a reason that nothing else tells. What was lost before stays
 * in the ledger. */
#include <inttypes.h>

#include <glib.h>

#include "base/clock.h"
#include "status/doctor.h"
#include "status/serverstate.h"

/* A loss that is over for so long is worth no word any more. */
#define LASTS_NS (20 * NS_PER_SECOND)
/* What was lost with a file is told for longer, as it happens only once. */
#define FILE_LASTS_NS (600 * NS_PER_SECOND)

/* @what: behind an output's name, or by itself, before the number. "[output]" stands for the output's
 * section. */
struct told {
	const char *code, *what, *fix;
	int64_t lasts; /* 0: LASTS_NS */
};

static const struct told of_node[LEDGER_ROWS] = {
	[EVENTS_LOST_RING] = {"events-lost",
		"programs record more than their ring buffers hold, or lttng-consumerd does not keep up: "
		"events that are lost",
		"raise `memory` in [session] (or `memory-max`, to which ring buffers grow by themselves), or "
		"record less (`blkin sampling 1/10`); if programs record little, lttng-consumerd was held "
		"up, as by many users' first programs: raise `live-timer`"},
	[PACKETS_LOST] = {"packets-lost",
		"what was recorded could not be read before it was overwritten or given up: packets that are "
		"lost",
		"raise `disk` in [session], or record less (`blkin sampling 1/10`); or find out who clears "
		"the session "
		"(lttng clear), or removes files of `relay-output`"},
	[MESSAGES_REFUSED_CATEGORY] = {"input-refused",
		"senders hand over messages of another category than `category` in [input]: messages that "
		"are refused",
		"correct `category` in [input], or in the senders; or let an output take messages (`takes`)"},
	[MESSAGES_REFUSED_MALFORMED] = {"input-refused",
		"senders hand over what cannot be read as spans: messages that are refused",
		"the agent's log has the beginning of one: correct the sender"},
	[MESSAGES_REFUSED_ID] = {"input-refused",
		"senders hand over spans whose trace or span id is 0: messages that are refused",
		"let the senders give their spans other ids"},
	[MESSAGES_REFUSED_OVERSIZE] = {"input-refused",
		"senders hand over messages that are larger than the input takes, or than an output's "
		"`batch-size`: messages that are refused",
		"raise `batch-size` in [output], or let the senders make smaller ones"},
};

static const struct told of_output[ACCOUNT_ROWS] = {
	[SPANS_DROPPED_QUEUE_FULL] = {"queue-full",
		"neither memory nor disk has room for what waits for it: spans that are dropped",
		"see to the collector or, if there is a spool, to its disk; or raise `queue-size` in "
		"[output]"},
	[SPANS_DROPPED_SPOOL_FULL] = {"spool-full",
		"its spool is full, and the oldest make room: spans that are dropped",
		"see to the collector; or raise `max-size` in [spool], or `spool-size` in [output]"},
	[SPANS_DROPPED_REFUSED] = {"spans-refused",
		"the collector refuses some, and takes others: spans that are dropped",
		"`blkin spool list` shows them, and what the collector says"},
	[SPANS_DROPPED_OVERSIZE] = {"spans-oversize",
		"some are larger than `batch-size` in [output]: spans that are dropped",
		"raise `batch-size` in [output], if the collector takes larger calls"},
	[SPANS_DROPPED_SPOOL_CORRUPT] = {"spool-corrupt",
		"its spool's file was damaged, or does not have what it should: spans that are lost",
		"see to the disk (the log says what was wrong with the file)", FILE_LASTS_NS},
	[SPANS_LEFT_EARLY] = {"keep-traces-full",
		"more spans wait for their traces than `keep-traces-size` in [output] holds: left out early",
		"raise `keep-traces-size`, or lower `keep-traces`, in [output]"},
};

static bool is_recent(const struct loss *loss, const struct told *told)
{
	return told->code && loss->at &&
	       clock_monotonic() - loss->at < (told->lasts ? told->lasts : LASTS_NS);
}

static void add_of_output(struct findings *findings, const struct output_state *output,
	const struct output_config *is, const struct told *told, int64_t amount)
{
	g_autofree char *section = g_strdup_printf("[%s]", is ? is->section : "output");
	g_autofree char *words = kind_text(output->kind, told->what),
			*advice = kind_text(output->kind, told->fix);
	GString *what = g_string_new(words), *fix = g_string_new(advice);

	g_string_replace(what, "[output]", section, 0);
	g_string_replace(fix, "[output]", section, 0);
	finding_add(
		findings, told->code, fix->str, "output %s: %s: %" PRId64, output->name, what->str, amount);
	g_string_free(what, TRUE);
	g_string_free(fix, TRUE);
}

/* Another finding tells: of a spool whose files somebody removed, or of a collector that takes nothing. */
static bool is_told(const struct output_state *output, enum account_row row)
{
	if (row == SPANS_DROPPED_REFUSED)
		return server_state_of(&output->uplink) == SERVER_STATE_DOWN;
	return row == SPANS_DROPPED_SPOOL_CORRUPT && output->spool.removed_at &&
	       clock_monotonic() - output->spool.removed_at < FILE_LASTS_NS;
}

void findings_add_losses(struct findings *findings, const struct status *status)
{
	for (int row = 0; row < LEDGER_ROWS; row++)
		if (is_recent(&status->lost[row], &of_node[row]))
			finding_add(findings, of_node[row].code, of_node[row].fix, "%s: %" PRId64,
				of_node[row].what, status->lost[row].amount);
	for (size_t i = 0; i < status->output_count; i++) {
		const struct output_state *output = &status->outputs[i];
		const struct loss *lost = output->account.lost;

		for (int row = 0; row < ACCOUNT_ROWS; row++)
			if (is_recent(&lost[row], &of_output[row]) && !is_told(output, row))
				add_of_output(findings, output, config_output(status->config, output->name),
					&of_output[row], lost[row].amount);
	}
}
