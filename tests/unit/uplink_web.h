/* SPDX-License-Identifier: BSD-2-Clause */
/* The uplink's rig with a collector that speaks HTTP in place of the Scribe server. */
#ifndef UPLINK_WEB_H
#define UPLINK_WEB_H

#include "uplink_rig.h"
#include "webpeer.h"

struct web {
	struct rig rig;
	struct webpeer *peer;
};

#define ANSWER(peer, ...)                                                                                    \
	do {                                                                                                 \
		static const char *const list[] = {__VA_ARGS__, NULL};                                       \
		webpeer_set_answers(peer, list);                                                             \
	} while (0)

void open_web(struct web *web, enum squeeze_kind compression);
void close_web(struct web *web);

#endif
