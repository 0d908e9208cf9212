/* SPDX-License-Identifier: BSD-2-Clause */
/* What a session is known by, in LTTng and in the checkpoint. */
#ifndef SESSION_SESSIONID_H
#define SESSION_SESSIONID_H

#include <stdbool.h>
#include <stdint.h>

#include "base/pack.h"

struct session_identity {
	char name[256];
	uint64_t created;   /* seconds since the epoch, as LTTng has it */
	char settings[512]; /* of [session], as far as they are fixed once it is created */
};

void session_identity_save(const struct session_identity *session, struct buffer *out);
bool session_identity_load(struct unpacker *from, struct session_identity *session);

#endif
