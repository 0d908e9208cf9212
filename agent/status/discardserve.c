/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* struct ucred */
#include "status/discardserve.h"

#include <sys/socket.h>
#include <unistd.h>

#include <event2/http.h>

#include "status/discardtalk.h"

#define FORBIDDEN 403
#define CONFLICT 409

bool discardserve_peer(int fd, unsigned *user)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof(peer))
		return false;
	*user = peer.uid;
	return true;
}

static int refuse(struct buffer *body, int code, const char *why)
{
	buffer_printf(body, "%s\n", why);
	return code;
}

int discardserve(const struct outputs *outputs, const char *query, bool order, const unsigned *user,
	struct buffer *body)
{
	struct discard_question question;
	struct outputs_order is;
	struct discard_state state;

	if (order && (!user || (*user != 0 && *user != geteuid())))
		return refuse(
			body, FORBIDDEN, "only root and the user that the agent runs as may discard spans");
	if (!discardtalk_get_question(query, &question))
		return refuse(body, HTTP_BADREQUEST,
			"blkin-agent " BLKIN_VERSION
			" does not understand this order: use the `blkin` of its "
			"version, or restart the agent if it was upgraded");
	is = (struct outputs_order){.before = question.before, .user = user ? *user : 0};
	switch (outputs_discard(outputs, question.output, order ? &is : NULL, &state)) {
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
