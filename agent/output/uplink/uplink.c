/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/uplink/uplink.h"

#include "output/uplink/uplinktype.h"

struct uplink *uplink_create(
	struct event_base *base, struct queue *queue, const struct uplink_options *options)
{
	return uplink_types[options->is->type]->create(base, queue, options);
}

void uplink_destroy(struct uplink *uplink)
{
	if (uplink)
		uplink->kind->destroy(uplink);
}

void uplink_wake(struct uplink *uplink)
{
	uplink->kind->wake(uplink);
}

void uplink_when_drained(struct uplink *uplink, void (*done)(void *data), void *data)
{
	uplink->kind->when_drained(uplink, done, data);
}

void uplink_read_state(const struct uplink *uplink, struct uplink_state *state)
{
	uplink->kind->read_state(uplink, state);
}
