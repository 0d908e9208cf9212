/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = scribe`: how it delivers. */
#include "net/scribe.h"
#include "output/server/servers.h"

static struct wire *create_wire(const struct uplink_options *options, const struct address *address)
{
	(void)address;
	switch (options->kind) {
	case KIND_EVENTS:
		return scribe_create_plain(options->is->events_category);
	case KIND_MESSAGES:
		return scribe_create_messages();
	default:
		return scribe_create(options->is->category);
	}
}

const struct uplink_type uplink_type_scribe = {
	.spans = BATCH_ZIPKIN_SPANS,
	.events = BATCH_EVENT_JSON,
	.create = servers_create,
	.wire = create_wire,
	.probe = serverprobe_begin,
};
