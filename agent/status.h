/* SPDX-License-Identifier: BSD-2-Clause */
/* The agent's state at one moment, and how `blkin status` shows it: to people as text, to machines as JSON.
 */
#ifndef STATUS_H
#define STATUS_H

#include <stdbool.h>

#include "buffer.h"
#include "collector.h"
#include "ledger.h"
#include "uplink.h"

/* Where the state is read from; all borrowed. */
struct status_source {
	struct collector *collector;
	struct uplink *uplink;
	struct batch_queue *queue;
	size_t queue_limit;
	int64_t started; /* ns since the epoch */
};

struct status {
	struct ledger rows;
	struct ledger_latency latency;
	struct collector_state collector;
	struct uplink_state uplink;
	size_t queue_bytes, queue_limit;
	int64_t started;
};

void status_read(struct status *status, const struct status_source *source);

/* How things are, in one line without an end: what `blkin status` says first. */
void status_write_line(struct buffer *out, const struct status *status);
void status_write_text(struct buffer *out, const struct status *status);
void status_write_json(struct buffer *out, const struct status *status);

#endif
