/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The suspects: batches on which a server failed again and again, without refusing them (HTTP status 500, a
 * connection that it closes, no answer). The queue has set them aside, so they hold up nothing.
 *
 * They are sent one after the other, each call alone on a connection of its own. A suspect that fails between
 * two good answers to other calls is guilty: it is halved, and so on, until single spans remain. A span that
 * fails so SUSPECTS_PROOFS times is dropped, as if it were refused. If nothing else gets through either, the
 * cause is the server, and suspects are only tried again. The same holds for a server that asks for time:
 * until that is over it gets none.
 */
#ifndef OUTPUT_SERVER_SUSPECTS_H
#define OUTPUT_SERVER_SUSPECTS_H

#include <stdint.h>

#include "output/server/server.h"
#include "output/uplink/uplink.h"

#define SUSPECTS_PROOFS 3

struct suspects;

/* Tries suspects of the queue at @server, until suspects_use says another one. */
struct suspects *suspects_create(const struct server_shared *shared, struct server *server);

/* Gives open batches back to the queue; before the servers are destroyed. */
void suspects_destroy(struct suspects *suspects);

/* The server in use; there may be new suspects. */
void suspects_use(struct suspects *suspects, struct server *server);

/* The server in use took other spans, or failed on them. */
void suspects_others_took(struct suspects *suspects);
void suspects_others_failed(struct suspects *suspects);

void suspects_read_state(const struct suspects *suspects, struct suspects_state *state);

#endif
