/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/doctor.h"

#include <glib.h>

#include "base/clock.h"

/* A circle that was noticed so long ago is undone, as far as anybody knows. */
#define LOOP_NS (60 * NS_PER_SECOND)
/* For so long after somebody found no room, it is said that there is none. */
#define CROWD_NS (60 * NS_PER_SECOND)

/* Senders are told to try later because of an output: its own finding says why. */
void findings_add_input(struct findings *findings, const struct inlet_state *input, const char *key)
{
	g_autofree char *fix =
		g_strdup_printf("if something else listens there (`ss -lnp` names it), end it: the "
				"agent opens the port by itself once it can; or set another `%s` "
				"in [input], and reload the agent",
			key);

	if (!*input->address)
		return;
	if (*input->error)
		finding_add(findings, "input-port", fix,
			"no spans are taken from others: the agent cannot listen on %s: %s", input->address,
			input->error);
	if (input->looped && clock_monotonic() - input->looped < LOOP_NS)
		finding_add(findings, "input-loop",
			"let one of the agents in the circle deliver elsewhere (`server` in [output]), or "
			"take no spans from the others ([input])",
			"spans go in a circle: %s hands over some that have come through this agent before; "
			"these calls are told to try later",
			input->loop_peer);
	else if (input->again && clock_monotonic() - input->again < LOOP_NS)
		finding_add(findings, "input-loop",
			"see where that one has them from: if from what this agent delivers to, let one of "
			"both deliver elsewhere; "
			"if it sends the same spans for ever, end that",
			"spans come again and again: %s hands over some that this agent has taken several "
			"times before; they may go "
			"in a circle, through a server that is none of ours, and are taken all the same",
			input->again_peer);
	if (input->crowded && clock_monotonic() - input->crowded < CROWD_NS)
		finding_add(findings, "input-crowded",
			"see what that one does with so many (`ss -tnpe` shows them), or raise `connections` "
			"in "
			"[input]; "
			"for programs of this node set a path in `scribe`, so that each user has a share",
			"senders find no room: %u of %u connections were taken, %u of them by %s",
			input->crowded_connections, input->most, input->holder_connections, input->holder);
	if (input->putting_off)
		finding_add(findings, "input-full",
			"nothing is lost while the senders keep their spans; see to the output that does not "
			"deliver, "
			"or raise `queue-size` in [output] or `max-size` in [spool]",
			"senders are told to try later: an output's queue or spool has no room for more");
}
