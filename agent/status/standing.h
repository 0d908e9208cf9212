/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a server takes spans, as people are told: what is over in a moment is not worth a word. */
#ifndef STATUS_STANDING_H
#define STATUS_STANDING_H

#include <stdbool.h>

#include "output/uplink/uplink.h"

/* The one that gets the spans; NULL if there is none. */
const struct uplink_server_state *standing_serving(const struct uplink_state *uplink);

/* It fails, and has for a while: for longer, if it has failed and recovered again and again lately. */
bool standing_is_down(const struct uplink_server_state *server);

enum standing {
	STANDING_DOWN,     /* nothing gets through */
	STANDING_UNTRIED,  /* connected, but nothing was acknowledged yet, so that nobody knows */
	STANDING_DELIVERS, /* spans get through, but for moments */
};

enum standing standing_of(const struct uplink_state *uplink);

#endif
