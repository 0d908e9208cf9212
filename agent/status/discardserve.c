/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/discardserve.h"

#include <event2/http.h>

#include "status/discardtalk.h"

#define CONFLICT 409

static int refuse(struct buffer *body, int code, const char *why)
{
	buffer_printf(body, "%s\n", why);
	return code;
}

int discardserve(const struct outputs *outputs, const char *query, const unsigned *user, struct buffer *body)
{
	struct discard_question question;
	struct outputs_order is;
	struct discard_state state;

	if (!discardtalk_get_question(query, &question))
		return refuse(body, HTTP_BADREQUEST,
			"blkin-agent " BLKIN_VERSION
			" does not understand this order: use the `blkin` of its "
			"version, or restart the agent if it was upgraded");
	is = (struct outputs_order){.before = question.before, .user = user ? *user : 0};
	switch (outputs_discard(outputs, question.output, user ? &is : NULL, &state)) {
	case OUTPUTS_NO_OUTPUT:
		return refuse(body, HTTP_NOTFOUND,
			"it has no output of this name; after a change of the configuration, reload it");
	case OUTPUTS_NO_SPOOL:
		return refuse(body, HTTP_NOTFOUND, "this output has no spool");
	case OUTPUTS_BUSY:
		return refuse(body, CONFLICT, "somebody else is just discarding spans of this output");
	default:
		discardtalk_put_answer(body, &state);
		return HTTP_OK;
	}
}
