/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/orders.h"

#include <string.h>

#include <unistd.h>

#include <event2/bufferevent.h>

#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "status/discardserve.h"
#include "status/discardtalk.h"
#include "status/protocol.h"
#include "status/refusal.h"

#define FORBIDDEN 403

/* Who asks. */
static bool peer_of(struct evhttp_request *request, unsigned *user)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(request);

	return discardserve_peer(bufferevent_getfd(evhttp_connection_get_bufferevent(connection)), user);
}

static int acknowledge(bool order, const unsigned *user, struct buffer *body)
{
	if (!order) {
		buffer_printf(body, "only POST is answered here\n");
		return HTTP_BADMETHOD;
	}
	if (!user || (*user != 0 && *user != geteuid())) {
		buffer_printf(
			body, "only root and the user that the agent runs as may acknowledge what is lost\n");
		return FORBIDDEN;
	}
	ledger_acknowledge(clock_wall() / NS_PER_SECOND);
	log_info("what was lost so far is acknowledged, by user %u", *user);
	buffer_printf(body, "ok\n");
	return HTTP_OK;
}

bool orders_take(struct evhttp_request *request, const char *path, const struct status_source *source,
	struct buffer *body, int *code)
{
	const char *query = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request));
	bool order = evhttp_request_get_command(request) == EVHTTP_REQ_POST;
	unsigned user;
	const unsigned *known = peer_of(request, &user) ? &user : NULL;

	if (!strcmp(path, DISCARDTALK_PATH))
		*code = discardserve(source->outputs, query, order, known, body);
	else if (!strcmp(path, PROTOCOL_ACKNOWLEDGE_PATH))
		*code = acknowledge(order, known, body);
	else if (!strcmp(path, REFUSAL_PATH))
		*code = refusal_take(source->reload, order, known, body);
	else
		return false;
	return true;
}
