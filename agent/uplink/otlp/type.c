/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = otlp`: how it delivers. */
#include "uplink/server/posts.h"
#include "uplink/server/servers.h"
#include "wire/otlpreply.h"

static struct wire *create_wire(const struct uplink_options *options, const struct address *address)
{
	return posts_create_wire(options, address, otlpreply_read);
}

const struct uplink_type uplink_type_otlp = {
	.spans = BATCH_OTLP_SPANS,
	.events = BATCH_EVENT_OTLP,
	.create = servers_create,
	.wire = create_wire,
	.probe = serverprobe_begin,
};
