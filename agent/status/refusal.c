/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/refusal.h"

#include <unistd.h>

#include <event2/http.h>

#include "base/log.h"

#define FORBIDDEN 403

int refusal_take(struct reload_state *reload, bool order, const unsigned *user, struct buffer *body)
{
	if (!order) {
		buffer_printf(body, "only POST is answered here\n");
		return HTTP_BADMETHOD;
	}
	if (!user || (*user != 0 && *user != geteuid())) {
		buffer_printf(body, "only root and the user that the agent runs as may tell it so\n");
		return FORBIDDEN;
	}
	reload->failed = true;
	reload->failures++;
	log_error("configuration not reloaded: `blkin validate` refuses it; the previous one stays in force");
	buffer_printf(body, "ok\n");
	return HTTP_OK;
}
