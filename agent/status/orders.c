/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/orders.h"

#include <string.h>

#include <event2/bufferevent.h>

#include "status/discardserve.h"
#include "status/discardtalk.h"
#include "status/refusal.h"

/* Who asks. */
static bool peer_of(struct evhttp_request *request, unsigned *user)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(request);

	return discardserve_peer(bufferevent_getfd(evhttp_connection_get_bufferevent(connection)), user);
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
	else if (!strcmp(path, REFUSAL_PATH))
		*code = refusal_take(source->reload, order, known, body);
	else
		return false;
	return true;
}
