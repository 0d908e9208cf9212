/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/http.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/sanitize.h"
#include "stats/statistics.h"
#include "status/controlsocket.h"
#include "status/doctor.h"
#include "status/httplimit.h"
#include "status/orders.h"
#include "status/pageserve.h"
#include "status/port.h"
#include "status/protocol.h"
#include "status/scrape.h"
#include "status/tails.h"

#define HEADERS_MAX 8192
/* How often the control socket is looked at, and when it is tried again if it cannot be made. */
#define LOOK_NS (5 * NS_PER_SECOND)
#define LOOK_AGAIN_NS (60 * NS_PER_SECOND)

struct http {
	const struct status_source *source;
	struct event_base *base;
	struct port *port;
	struct evhttp *local;
	struct http_limit *local_limit;
	struct event *look; /* at the control socket; NULL if there is none */
	struct tails *tails;
	struct pagekey page_key;
	char *socket; /* path to remove at the end; NULL if none was made */
};

/* With the answer the connection is over: the next one is somebody else's turn. */
static void reply(struct evhttp_request *request, int code, const char *type, const struct buffer *body)
{
	struct evbuffer *out = evbuffer_new();

	evhttp_add_header(evhttp_request_get_output_headers(request), "Content-Type", type);
	evhttp_add_header(evhttp_request_get_output_headers(request), "Connection", "close");
	evbuffer_add(out, body->data, body->size);
	evhttp_send_reply(request, code, NULL, out);
	evbuffer_free(out);
}

/* Each writes its page from the state of the moment, and returns the HTTP code. */

/* Alive: the loop answers. */
static int page_healthz(struct buffer *out, const struct status *status)
{
	(void)status;
	buffer_printf(out, "ok\n");
	return HTTP_OK;
}

/* Ready: the session is being read, and what the agent itself records comes back. An agent whose collector is
 * away is ready too, as its spans wait. */
static int page_readyz(struct buffer *out, const struct status *status)
{
	if (status->supervisor.collecting && doctor_canary_is_lost(status)) {
		buffer_printf(out, "not collecting: the agent's own event does not come back\n");
		return HTTP_SERVUNAVAIL;
	}
	if (status->supervisor.collecting && doctor_session_is_unsteady(status)) {
		buffer_printf(out,
			"not collecting: LTTng's session is lost, or stopped by somebody, again and again\n");
		return HTTP_SERVUNAVAIL;
	}
	if (status->supervisor.collecting) {
		buffer_printf(out, "ok\n");
		return HTTP_OK;
	}
	buffer_printf(out, "not collecting: %s",
		status->supervisor.error[0] ? status->supervisor.error : "starting");
	words_clean((char *)out->data, out->size);
	buffer_printf(out, "\n");
	return HTTP_SERVUNAVAIL;
}

static int page_status(struct buffer *out, const struct status *status)
{
	status_write_json(out, status);
	return HTTP_OK;
}

static int page_session(struct buffer *out, const struct status *status)
{
	struct protocol_session session = {.protocol = PROTOCOL_VERSION, .agent = BLKIN_VERSION};

	g_strlcpy(session.name, status->config->session_name, sizeof(session.name));
	g_strlcpy(session.tracing_group, status->config->tracing_group, sizeof(session.tracing_group));
	protocol_put_session(out, &session);
	return HTTP_OK;
}

static int page_index(struct buffer *out, const struct status *status)
{
	(void)status;
	buffer_printf(out,
		"blkin-agent %s\n\n/metrics      for Prometheus\n/healthz      alive?\n"
		"/readyz       collecting?\n/status.json  what `blkin status` shows\n",
		BLKIN_VERSION);
	return HTTP_OK;
}

#define PLAIN "text/plain; charset=utf-8"

static const struct page {
	const char *path, *type;
	int (*write)(struct buffer *out, const struct status *status);
} pages[] = {
	{SCRAPE_PATH, NULL, NULL}, /* in the form that is asked for */
	{"/healthz", PLAIN, page_healthz},
	{"/readyz", PLAIN, page_readyz},
	{PROTOCOL_STATUS_PATH, "application/json", page_status},
	{PROTOCOL_SESSION_PATH, PLAIN, page_session},
	{"/", PLAIN, page_index},
};

static void reply_page(struct evhttp_request *request, const struct page *page, const struct status *status)
{
	struct buffer body = {0};
	int code = page->write(&body, status);

	reply(request, code, page->type, &body);
	buffer_free(&body);
}

static void reply_metrics(
	struct evhttp_request *request, const struct http *http, const struct status *status)
{
	const char *accept = evhttp_find_header(evhttp_request_get_input_headers(request), "Accept");
	struct buffer body = {0};

	reply(request, HTTP_OK, scrape(&body, status, http->source->statistics, accept), &body);
	buffer_free(&body);
}

/* @local: on the control socket, where it is said how to get to the page. @names: they may be told. */
static void serve_pages(struct evhttp_request *request, const struct http *http, bool local, bool names)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;
	char page[300] = "";
	struct status *status;

	for (size_t i = 0; path && i < G_N_ELEMENTS(pages); i++) {
		if (strcmp(path, pages[i].path) != 0)
			continue;
		status = status_create(http->source);
		status->names = names;
		if (local && !*status->http_error)
			pageserve_address(page, sizeof(page), status->config, "");
		status->page = page;
		if (pages[i].write)
			reply_page(request, &pages[i], status);
		else
			reply_metrics(request, http, status);
		status_destroy(status);
		return;
	}
	evhttp_send_error(request, HTTP_NOTFOUND, NULL);
}

static void serve(struct evhttp_request *request, void *data)
{
	const struct http *http = data;
	bool allowed = pageserve_allows(request, &http->page_key, http->source->config);

	if (!http_limit_send_away(request, port_waiting(http->port)) &&
		!pageserve(request, http->source, &http->page_key, allowed))
		serve_pages(request, http, false, allowed);
}

static bool reply_order(struct evhttp_request *request, const struct http *http, const char *path)
{
	struct buffer body = {0};
	int code;
	bool is = orders_take(request, path, http->source, &body, &code);

	if (is)
		reply(request, code, PLAIN, &body);
	buffer_free(&body);
	return is;
}

static void reply_spans(struct evhttp_request *request, const struct http *http)
{
	struct buffer body = {0};
	struct snapshot snapshot;

	statistics_read(http->source->statistics, &snapshot);
	snapshot_pack(&body, &snapshot);
	reply(request, HTTP_OK, "application/octet-stream", &body);
	snapshot_clear(&snapshot);
	buffer_free(&body);
}

static void reply_address(struct evhttp_request *request, const struct http *http)
{
	struct buffer body = {0};
	char address[300] = "";

	if (!http->source->http_error || !*http->source->http_error)
		pageserve_address(address, sizeof(address), http->source->config, http->page_key.token);
	if (*address)
		buffer_printf(&body, "%s\n", address);
	reply(request, HTTP_OK, PLAIN, &body);
	buffer_free(&body);
}

static void begin_tail(struct evhttp_request *request, const struct http *http, const char *query)
{
	struct evhttp_connection *connection = evhttp_request_get_connection(request);
	struct buffer body = {0};
	const char *wrong = "only GET is answered here";

	if (evhttp_request_get_command(request) == EVHTTP_REQ_GET)
		wrong = tails_answer(http->tails, request, query);
	if (!wrong) {
		http_limit_keep(http->local_limit, evhttp_connection_get_bufferevent(connection));
		return;
	}
	buffer_printf(&body, "%s\n", wrong);
	reply(request, HTTP_BADREQUEST, PLAIN, &body);
	buffer_free(&body);
}

/* On the control socket alone: what programs do is for who may ask there, and orders are for some of those.
 */
static void serve_local(struct evhttp_request *request, void *data)
{
	const struct http *http = data;
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *path = uri ? evhttp_uri_get_path(uri) : NULL;

	if (path && reply_order(request, http, path))
		return;
	if (http_limit_send_away(request, http_limit_waiting(http->local_limit)))
		return;
	if (evhttp_request_get_command(request) == EVHTTP_REQ_POST)
		evhttp_send_error(request, HTTP_BADMETHOD, NULL);
	else if (path && !strcmp(path, PROTOCOL_SPANS_PATH))
		reply_spans(request, http);
	else if (path && !strcmp(path, PROTOCOL_PAGE_PATH))
		reply_address(request, http);
	else if (pageserve(request, http->source, &http->page_key, true))
		return;
	else if (path && !strcmp(path, PROTOCOL_TAIL_PATH))
		begin_tail(request, http, evhttp_uri_get_query(uri));
	else
		serve_pages(request, http, true, true);
}

static struct evhttp *create_server(void *http)
{
	struct evhttp *server = evhttp_new(((struct http *)http)->base);

	evhttp_set_allowed_methods(server, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
	evhttp_set_timeout(server, HTTP_CONNECTION_SECONDS);
	evhttp_set_max_headers_size(server, HEADERS_MAX);
	evhttp_set_max_body_size(server, 0);
	evhttp_set_gencb(server, serve, http);
	return server;
}

static int listen_local(struct http *http, const char *path, bool *hopeless)
{
	int fd = controlsocket_bind(path, hopeless);
	struct evconnlistener *listener;

	if (fd < 0)
		return -1;
	listener = evconnlistener_new(http->base, NULL, NULL, LEV_OPT_CLOSE_ON_FREE, 16, fd);
	http->local = create_server(http);
	evhttp_set_allowed_methods(http->local, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST);
	evhttp_set_gencb(http->local, serve_local, http);
	http->local_limit = http_limit_create(http->base, http->local, listener);
	evhttp_bind_listener(http->local, listener);
	return 0;
}

static void end_local(struct http *http)
{
	if (http->local)
		evhttp_free(http->local);
	if (http->local_limit)
		http_limit_destroy(http->local_limit);
	http->local = NULL;
	http->local_limit = NULL;
}

static void look_after(struct http *http, int64_t ns)
{
	const struct timeval time = clock_timeval(ns);

	event_add(http->look, &time);
}

/* Somebody may tidy up /run, and nobody could ask the agent any more. */
static void on_look(evutil_socket_t fd, short what, void *data)
{
	struct http *http = data;
	bool hopeless = false;
	struct stat file;

	(void)fd;
	(void)what;
	if (lstat(http->socket, &file) == 0 || errno != ENOENT) {
		look_after(http, LOOK_NS);
		return;
	}
	log_warning("somebody removed the control socket %s: it is made again", http->socket);
	end_local(http);
	look_after(http, listen_local(http, http->socket, &hopeless) == 0 ? LOOK_NS : LOOK_AGAIN_NS);
}

struct http *http_create(struct event_base *base, const struct status_source *source, bool *hopeless)
{
	const struct config *config = source->config;
	struct http *http = g_new0(struct http, 1);

	http->base = base;
	http->source = source;
	pagekey_open(&http->page_key, config->state_directory);
	http->tails = tails_create(base, source->subscribers);
	http->port = port_create(base, create_server, http);
	if (*config->socket && listen_local(http, config->socket, hopeless) != 0) {
		http_destroy(http);
		return NULL;
	}
	if (*config->socket) {
		http->socket = g_strdup(config->socket);
		http->look = evtimer_new(base, on_look, http);
		look_after(http, LOOK_NS);
	}
	if (*config->http)
		port_open(http->port, config->http);
	return http;
}

void http_stay(const struct http *http, struct listen_staying *staying)
{
	listen_stay(staying, port_socket(http->port));
}

int http_move(struct http *http, const char *address, struct listen_staying *staying)
{
	return port_move(http->port, address, staying);
}

void http_move_back(struct http *http, const char *address)
{
	port_move_back(http->port, address);
}

const char *http_error(const struct http *http)
{
	return port_error(http->port);
}

void http_destroy(struct http *http)
{
	port_destroy(http->port);
	if (http->look)
		event_free(http->look);
	end_local(http);
	tails_destroy(http->tails);
	if (http->socket)
		unlink(http->socket);
	g_free(http->socket);
	g_free(http);
}
