/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/sessionid.h"

#include <stdio.h>

#include "config/config.h"

void session_name(const struct config *config, unsigned number, char *name, size_t size)
{
	if (number)
		snprintf(name, size, "%.240s-%u", config->session_name, number + 1);
	else
		snprintf(name, size, "%.255s", config->session_name);
}

void session_identity_save(const struct session_identity *session, struct buffer *out)
{
	pack_text(out, session->name);
	pack_u64(out, session->created);
	pack_text(out, session->settings);
}

bool session_identity_load(struct unpacker *from, struct session_identity *session)
{
	unpack_text(from, session->name, sizeof(session->name));
	session->created = unpack_u64(from);
	unpack_text(from, session->settings, sizeof(session->settings));
	return !from->failed;
}
