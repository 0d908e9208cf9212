/* SPDX-License-Identifier: BSD-2-Clause */
/* Events that are made, through the encoders and the pipeline. */
#ifndef EVENTRIG_H
#define EVENTRIG_H

#include "eventmaker.h"
#include "reader/assemble/pipeline.h"
#include "reader/decode/foreign.h"

struct event_rig {
	struct event_maker maker;
	struct pipeline *pipeline;
	struct foreign *foreign;
	struct buffer json, otlp; /* the last event */
	int events;               /* that the ledger has as JSON, by the pipeline's changes */
};

void event_rig_begin(struct event_rig *rig);

/* Makes one event of the bytes, and encodes it. */
void event_rig_run(struct event_rig *rig, const uint8_t *data, size_t size);
void event_rig_end(struct event_rig *rig);

#endif
