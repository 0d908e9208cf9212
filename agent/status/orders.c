/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* struct ucred */
#include "status/orders.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/bufferevent.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "status/discardserve.h"
#include "status/discardtalk.h"
#include "status/protocol.h"

#define FORBIDDEN 403

static int answer(struct buffer *body, int code, const char *text)
{
	buffer_printf(body, "%s\n", text);
	return code;
}

/* Who asks, if that can be known; whether they may give orders. */
static bool may_order(struct evhttp_request *request, unsigned *user)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	int fd = bufferevent_getfd(evhttp_connection_get_bufferevent(connection));
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || size != sizeof(peer))
		return false;
	*user = peer.uid;
	return *user == 0 || *user == geteuid();
}

static void acknowledge(unsigned user)
{
	ledger_acknowledge(clock_wall() / NS_PER_SECOND);
	log_info("what was lost so far is acknowledged, by user %u", user);
}

static void note_reload_refused(struct reload_state *reload)
{
	reload->failed = true;
	reload->failures++;
	log_error("configuration not reloaded: `blkin validate` refuses it; the previous one stays in force");
}

bool orders_take(struct evhttp_request *request, const char *path, const struct status_source *source,
	struct buffer *body, int *code)
{
	const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request));
	const bool order = evhttp_request_get_command(request) == EVHTTP_REQ_POST,
		   discard = !strcmp(path, DISCARDTALK_PATH),
		   acknowledged = !strcmp(path, PROTOCOL_ACKNOWLEDGE_PATH);
	unsigned user;

	if (!discard && !acknowledged && strcmp(path, PROTOCOL_REFUSED_PATH) != 0)
		return false;
	if (order && !may_order(request, &user)) {
		*code = answer(body, FORBIDDEN, "only root and the user that the agent runs as may do that");
	} else if (discard) {
		*code = discardserve(source->outputs, query, order ? &user : NULL, body);
	} else if (!order) {
		*code = answer(body, HTTP_BADMETHOD, "only POST is answered here");
	} else {
		if (acknowledged)
			acknowledge(user);
		else
			note_reload_refused(source->reload);
		*code = answer(body, HTTP_OK, "ok");
	}
	return true;
}
