/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a server takes spans, as people are told: what is over in a moment is not worth a word. */
#ifndef STATUS_SERVERSTATE_H
#define STATUS_SERVERSTATE_H

#include <stdbool.h>

#include "output/uplink/uplink.h"

/* The one that gets the spans; NULL if there is none. */
const struct uplink_server_state *server_state_serving(const struct uplink_state *uplink);

/* It fails, and has for a while: for longer, if it has failed and recovered again and again lately. */
bool server_state_is_down(const struct uplink_server_state *server);

enum server_state {
	SERVER_STATE_DOWN,     /* nothing gets through */
	SERVER_STATE_UNTRIED,  /* connected, but nothing was acknowledged yet, so that nobody knows */
	SERVER_STATE_DELIVERS, /* spans get through, but for moments */
};

enum server_state server_state_of(const struct uplink_state *uplink);

#endif
