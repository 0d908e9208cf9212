/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session at hand as it is read live: attaching to it, and what its index on disk tells of packets
 * beside. It belongs to the collector's thread.
 */
#ifndef COLLECT_LIVEREADER_H
#define COLLECT_LIVEREADER_H

#include <stdbool.h>
#include <stddef.h>

#include "assemble/pipeline.h"
#include "collect/progress.h"
#include "config/config.h"
#include "read/reader.h"
#include "session/session.h"

struct livereader;

/* All borrowed. */
struct livereader *livereader_create(
	const struct config *config, struct pipeline *pipeline, struct progress *progress);
void livereader_destroy(struct livereader *live);

enum attached {
	ATTACHED,
	ATTACHED_UNKNOWN,    /* the relay daemon does not have the session */
	ATTACHED_UNREADABLE, /* it answers, but babeltrace2 fails on what it sends */
	ATTACHED_NOT
};

/* Attaches to progress's session, and holds what comes. Otherwise @error says why not. */
enum attached livereader_attach(struct livereader *live, struct session *session, struct reader **reader,
	char *error, size_t error_size);

/*
 * To be called often while it is read live: whether nothing comes although relayd's files have more. Then it
 * is attached to the wrong session, or waits for one that is gone, and will do so for ever.
 */
bool livereader_stalls(struct livereader *live);

/* relayd's files cannot be read: said once for a session. */
void livereader_complain(struct livereader *live, const char *error);

#endif
