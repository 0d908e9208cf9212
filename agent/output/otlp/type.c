/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = otlp`: how it delivers. */
#include "net/otlpreply.h"
#include "output/server/posts.h"
#include "output/server/servers.h"

static struct wire *create_wire(const struct uplink_options *options, const struct address *address)
{
	return posts_create_wire(options, address, otlpreply_read, true);
}

const struct uplink_type uplink_type_otlp = {
	.spans = BATCH_OTLP_SPANS,
	.events = BATCH_EVENT_OTLP,
	.create = servers_create,
	.wire = create_wire,
	.probe = serverprobe_begin,
};
