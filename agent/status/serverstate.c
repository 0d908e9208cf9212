/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/serverstate.h"

#include <stddef.h>

#include "base/clock.h"
#include "config/outputtype.h"

/* A connection that is made again at once is not worth a word, */
#define LASTS_NS NS_PER_SECOND
/* and one that comes and goes gets another word, unless it stays away. */
#define UNSTEADY_LASTS_NS (5 * NS_PER_SECOND)

const struct uplink_server_state *server_state_serving(const struct uplink_state *uplink)
{
	uint32_t i = 0;

	while (i < uplink->server_count && !uplink->servers[i].serving)
		i++;
	return i < uplink->server_count ? &uplink->servers[i] : NULL;
}

bool server_state_is_down(const struct uplink_server_state *server)
{
	int64_t lasts = server->unsteady ? UNSTEADY_LASTS_NS : LASTS_NS;

	return server->fault && clock_monotonic() - server->failing_since >= lasts;
}

/* That files can be written is seen without writing. */
static bool is_tried(const struct uplink_state *uplink, const struct uplink_server_state *server)
{
	return (server && server->took) || output_type_has_directory(output_type_named(uplink->type));
}

enum server_state server_state_of(const struct uplink_state *uplink)
{
	const struct uplink_server_state *server = server_state_serving(uplink);

	if (!uplink->up && !(server && server->was_up && !server_state_is_down(server)))
		return SERVER_STATE_DOWN;
	return is_tried(uplink, server) ? SERVER_STATE_DELIVERS : SERVER_STATE_UNTRIED;
}
