/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session is known by, in LTTng and in the checkpoint. */
#ifndef SESSION_SESSIONID_H
#define SESSION_SESSIONID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pack.h"

struct config;

/* The names of an agent's sessions: the configured one, and those that take its place while one of these
 * cannot end. */
#define SESSION_NAMES 8
void session_name(const struct config *config, unsigned number, char *name, size_t size);

struct session_identity {
	char name[256];
	uint64_t created;   /* seconds since the epoch, as LTTng has it */
	char settings[512]; /* of [session], as far as they are fixed once it is created */
	char host[256];     /* this node's name then, which may have changed since; "": as it is now */
};

/* The node's name by which lttng-relayd has it. */
void session_host(const struct session_identity *session, char *host, size_t size);

void session_identity_save(const struct session_identity *session, struct buffer *out);
bool session_identity_load(struct unpacker *from, struct session_identity *session);

/* In what was reached (reader/progress.h) the number of the sessions that are over has this bit if times of
 * two sessions that record at once (reader/decode/overlap.h) are behind the rest: so many bytes. */
#define REACHED_WITH_TIMES UINT32_C(0x80000000)
#define REACHED_TIMES_SIZE (6 * sizeof(uint64_t))

#endif
