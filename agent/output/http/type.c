/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = http`: how it delivers. */
#include "net/httpreply.h"
#include "output/server/posts.h"
#include "output/server/servers.h"

static struct wire *create_wire(const struct uplink_options *options, const struct address *address)
{
	return posts_create_wire(options, address, httpreply_read, false);
}

const struct uplink_type uplink_type_http = {
	.events = BATCH_EVENT_JSON,
	.create = servers_create,
	.wire = create_wire,
	.probe = serverprobe_begin,
};
