/* SPDX-License-Identifier: BSD-2-Clause */
/* Why late traces are not kept with what the kernel did ([kernel] mode = flight). */
#include <inttypes.h>

#include "base/clock.h"
#include "status/doctor.h"

/* They come seldom: so it is told for longer than others, unless the next one is kept. */
#define LASTS_NS (600 * NS_PER_SECOND)

static const char *fix_of(enum flight_fault fault)
{
	switch (fault) {
	case FLIGHT_FAULT_FOLDER:
		return "make it a folder in which the agent's user may write, or remove what is in its place";
	case FLIGHT_FAULT_ROOM:
		return "make room on the disk of `state-directory`, or lower `memory` in [session] (a "
		       "snapshot takes as much, and a copy of what programs recorded as much again) or "
		       "`flight-size` in [kernel]";
	case FLIGHT_FAULT_SNAPSHOT:
		return "the next late trace is tried again; if that fails, too: systemctl restart "
		       "lttng-sessiond";
	case FLIGHT_FAULT_PROGRAM:
		return "install the package again";
	default:
		return "the next late trace is tried again; if that fails, too, the agent's log has what "
		       "`blkin why` said (journalctl -u blkin-agent), and a lower `memory` in [session] "
		       "gives it less to read";
	}
}

void findings_add_flight(struct findings *findings, const struct status *status)
{
	const struct flight_failure *failure = &status->flight;

	if (!failure->at || clock_monotonic() - failure->at >= LASTS_NS || !config_flies(status->config))
		return;
	finding_add(findings, "flight-failed", fix_of(failure->fault),
		"what the kernel did during the late trace %016" PRIx64 " is not kept: %s (failed: %" PRId64
		", kept: %" PRId64 ")",
		failure->trace_id, failure->why, status->rows.row[FLIGHT_FAILED],
		status->rows.row[FLIGHT_KEPT]);
}
