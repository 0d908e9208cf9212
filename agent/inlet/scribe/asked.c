/* SPDX-License-Identifier: BSD-2-Clause */
/* Which traces a sender wants to have whole, and which he is told that others want: queue/wanted.h. */
#include "base/clock.h"
#include "inlet/scribe/scribe.h"

void asked_hear(const struct connection *connection, const struct scribecall *from)
{
	struct wanted *wanted = fanout_wanted(connection->inlet->fanout);
	struct scribe_speech *speech = connection->own;
	const struct peer *peer = &connection->holder->peer;
	const uint32_t count = MIN(from->wanted_count, WANTED_TOLD_MAX);
	const int64_t now = clock_monotonic();
	uint64_t sharer;

	if (!wanted)
		return;
	wanted_note(wanted, WANTED_BELOW, now);
	if (!speech->reader.place.number)
		speech->reader.place = (struct wanted_place){WANTED_BELOW, wanted_number(wanted)};
	sharer = wanted_sharer(wanted, peer, sizeof(*peer));
	for (uint32_t i = 0; i < count; i++) {
		const struct trace_id id = scribecall_wanted(from->wanted, i);

		if (id.high || id.low)
			wanted_add(wanted, &id, &speech->reader.place, sharer, now);
	}
	wanted_add_untold(from->wanted_count - count);
}

void asked_tell(const struct connection *connection, struct scribecall_terms *terms,
	struct trace_id ids[WANTED_TOLD_MAX])
{
	struct wanted *wanted = fanout_wanted(connection->inlet->fanout);
	struct scribe_speech *speech = connection->own;

	terms->hears = true;
	terms->wanted = ids;
	if (wanted && speech->reader.place.number)
		terms->wanted_count =
			wanted_read(wanted, &speech->reader, ids, NULL, WANTED_TOLD_MAX, clock_monotonic());
}
