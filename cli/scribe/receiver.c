/* SPDX-License-Identifier: BSD-2-Clause */
#include "scribe/receiver.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "base/log.h"
#include "http/post.h"
#include "printable.h"
#include "scribe/call.h"
#include "status/trace/span2.h"

#define FRAME_MAX (16 * 1024 * 1024)
/* The most connections at once; further ones wait in the kernel. */
#define CONNECTIONS_MAX 256
/* A peer with this much of its answers unread is not read from. */
#define REPLIES_MAX (1024 * 1024)
/* Calls of one connection before the others get their turn. */
#define CALLS_IN_A_ROW 16
/* Time to send the remaining answers at the end. */
static const struct timeval drain_time = {.tv_sec = 1};
/* Before accepting is tried again after it failed, for want of file descriptors, most likely. */
static const struct timeval accept_pause = {.tv_sec = 1};

/* ADDRESS:PORT, with brackets around IPv6 and a NUL. */
#define ADDRESS_SIZE (INET6_ADDRSTRLEN + 16)

/* What comes from a peer that is none of Scribe, which mostly tries again and again: told so often at most.
 * HTTP is taken, too. */
enum stranger { STRANGER_HTTP, STRANGER_TLS, STRANGER_OTHER, STRANGERS };
#define STRANGER_PAUSE_NS (60 * NS_PER_SECOND)

struct connection {
	struct receiver *receiver;
	struct bufferevent *bev;
	char peer[ADDRESS_SIZE];
	bool ending; /* when what it is answered is written */
	bool http;   /* and no frames */
	struct post post;
	GList link;
};

struct receiver {
	struct event_base *base;
	struct evconnlistener *listener;
	struct event *resume;
	struct event *drain;   /* see whether answers are left to go out */
	struct event *give_up; /* waiting for them */
	struct receiver_options options;
	struct scribe_service service;
	char address[ADDRESS_SIZE];
	GQueue connections; /* of struct connection, owned */
	bool told_skipped;
	int64_t told[STRANGERS];     /* when; CLOCK_MONOTONIC ns; 0: never */
	void (*drained)(void *data); /* set: no more calls */
	void *drained_data;
};

static void format_address(const struct sockaddr *address, char text[ADDRESS_SIZE])
{
	char ip[INET6_ADDRSTRLEN] = "?";

	if (address->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)address;

		inet_ntop(AF_INET6, &in6->sin6_addr, ip, sizeof(ip));
		g_snprintf(text, ADDRESS_SIZE, "[%s]:%u", ip, ntohs(in6->sin6_port));
	} else {
		const struct sockaddr_in *in = (const struct sockaddr_in *)address;

		inet_ntop(AF_INET, &in->sin_addr, ip, sizeof(ip));
		g_snprintf(text, ADDRESS_SIZE, "%s:%u", ip, ntohs(in->sin_port));
	}
}

static void close_connection(struct connection *connection)
{
	struct receiver *receiver = connection->receiver;

	g_queue_unlink(&receiver->connections, &connection->link);
	bufferevent_free(connection->bev);
	post_end(&connection->post);
	g_free(connection);
	if (receiver->listener && !receiver->drained && receiver->connections.length < CONNECTIONS_MAX)
		evconnlistener_enable(receiver->listener);
}

/* The end, if it was asked for, comes when nothing is left to write. */
static void check_drained(struct receiver *receiver)
{
	if (!receiver->drained)
		return;
	for (GList *link = receiver->connections.head; link; link = link->next) {
		struct connection *connection = link->data;

		if (evbuffer_get_length(bufferevent_get_output(connection->bev)))
			return;
	}
	receiver->drained(receiver->drained_data);
}

/* Logs once that messages of another category are ignored: the peer is answered with OK. */
static void tell_skipped(struct receiver *receiver, const char *category)
{
	char *printable;

	if (!*category || receiver->told_skipped)
		return;
	receiver->told_skipped = true;
	printable = printable_copy(category, strlen(category), 0);
	log_warning("messages of category %s are ignored, as they are not of %s (see --category)", printable,
		receiver->options.category);
	g_free(printable);
}

static void tell_refused(const struct connection *connection, const char *why)
{
	if (*why)
		log_warning("%s: refused a call: %s", connection->peer, why);
}

static void tell_closing(const struct connection *connection, const char *why)
{
	log_warning("%s: connection closed: %s", connection->peer, why);
}

static enum stranger recognise(uint32_t size)
{
	const char bytes[] = {(char)(size >> 24), (char)(size >> 16), (char)(size >> 8), (char)size, '\0'};
	static const char methods[] = "GET POSTPUT HEADOPTIPATCDELEPRI ";

	for (size_t i = 0; i + 4 < sizeof(methods); i += 4)
		if (!memcmp(bytes, methods + i, 4))
			return STRANGER_HTTP;
	return size >> 16 == 0x1603 ? STRANGER_TLS : STRANGER_OTHER;
}

/* @size: of the first frame, as it would be. */
static void tell_stranger(const struct connection *connection, uint32_t size)
{
	enum stranger kind = recognise(size);
	int64_t *told = &connection->receiver->told[kind], now = clock_monotonic();
	char why[128];

	if (*told && now - *told < STRANGER_PAUSE_NS)
		return;
	*told = now;
	if (kind == STRANGER_TLS)
		g_snprintf(why, sizeof(why), "a TLS handshake came: this port takes spans without TLS");
	else
		g_snprintf(why, sizeof(why), "a frame of %u bytes: is this framed Thrift?", size);
	tell_closing(connection, why);
}

/* The same of its clients' mistakes. */
static void tell_wrong_post(const struct connection *connection, const char *why)
{
	int64_t *told = &connection->receiver->told[STRANGER_HTTP], now = clock_monotonic();

	if (!*why || (*told && now - *told < STRANGER_PAUSE_NS))
		return;
	*told = now;
	log_warning("%s: refused an HTTP request: %s", connection->peer, why);
}

/* Takes one HTTP request, or what has come of it; as take_frame. */
static int take_request(struct connection *connection)
{
	struct receiver *receiver = connection->receiver;
	struct post *post = &connection->post;
	int taken;

	post->spans = g_ptr_array_new_with_free_func(span2_free);
	taken = post_take(bufferevent_get_input(connection->bev), post);
	tell_wrong_post(connection, post->refused);
	if (post->spans->len && !receiver->options.take(receiver->options.data, post->spans))
		taken = -1;
	else
		bufferevent_write(connection->bev, post->reply.data, post->reply.size);
	connection->ending = post->close;
	g_ptr_array_unref(post->spans);
	post->spans = NULL;
	post->reply.size = 0;
	*post->refused = '\0';
	return taken;
}

/* Answers the frame of @size bytes at @frame. Returns whether the connection may go on. */
static bool answer(struct connection *connection, const void *frame, size_t size)
{
	struct receiver *receiver = connection->receiver;
	struct scribe_call call = {.spans = g_ptr_array_new_with_free_func(span2_free)};
	const char *wrong = scribe_call_answer(&receiver->service, frame, size, &call);
	bool good = false;

	if (wrong) {
		tell_closing(connection, wrong);
		goto out;
	}
	tell_refused(connection, call.refused);
	tell_skipped(receiver, call.skipped);
	if (call.spans->len && !receiver->options.take(receiver->options.data, call.spans))
		goto out;
	bufferevent_write(connection->bev, call.reply.data, call.reply.size);
	good = true;
out:
	g_ptr_array_unref(call.spans);
	buffer_free(&call.reply);
	return good;
}

/* Takes one frame, if there is a whole one. Returns 1; 0 if more bytes are needed; or -1 if the connection
 * has to end. */
static int take_frame(struct connection *connection)
{
	struct evbuffer *input = bufferevent_get_input(connection->bev);
	size_t have = evbuffer_get_length(input);
	uint32_t size;
	bool good;

	if (connection->http)
		return take_request(connection);
	if (evbuffer_copyout(input, &size, sizeof(size)) < (ev_ssize_t)sizeof(size))
		return 0;
	size = ntohl(size);
	if (recognise(size) == STRANGER_HTTP) { /* no frame is so large */
		connection->http = true;
		return take_request(connection);
	}
	if (size == 0 || size > FRAME_MAX) {
		tell_stranger(connection, size);
		return -1;
	}
	if (have - sizeof(size) < size)
		return 0;
	evbuffer_drain(input, sizeof(size));
	good = answer(connection, evbuffer_pullup(input, (ev_ssize_t)size), size);
	evbuffer_drain(input, size);
	return good ? 1 : -1;
}

static void on_read(struct bufferevent *bev, void *data)
{
	struct connection *connection = data;
	struct receiver *receiver = connection->receiver;
	int taken = 1;

	for (int i = 0; i < CALLS_IN_A_ROW && taken == 1; i++) {
		if (receiver->drained || connection->ending)
			return;
		if (evbuffer_get_length(bufferevent_get_output(bev)) > REPLIES_MAX) {
			bufferevent_disable(bev, EV_READ);
			return;
		}
		taken = take_frame(connection);
	}
	if (taken < 0)
		close_connection(connection);
	else if (taken == 1)
		bufferevent_trigger(bev, EV_READ, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
}

/* All answers are sent: handles what has arrived meanwhile. */
static void on_written(struct bufferevent *bev, void *data)
{
	struct connection *connection = data;

	if (connection->receiver->drained) {
		check_drained(connection->receiver);
	} else if (connection->ending) {
		close_connection(connection);
	} else if (!(bufferevent_get_enabled(bev) & EV_READ)) {
		bufferevent_enable(bev, EV_READ);
		bufferevent_trigger(bev, EV_READ, BEV_TRIG_IGNORE_WATERMARKS | BEV_TRIG_DEFER_CALLBACKS);
	}
}

static void on_event(struct bufferevent *bev, short what, void *data)
{
	struct connection *connection = data;
	struct receiver *receiver = connection->receiver;

	bool unfinished =
		evbuffer_get_length(bufferevent_get_input(bev)) > 0 || post_is_unfinished(&connection->post);

	if ((what & BEV_EVENT_EOF) && unfinished && !receiver->drained)
		tell_closing(connection, "the peer closed it in the middle of a call");
	close_connection(connection);
	check_drained(receiver);
}

static void on_accept(
	struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int length, void *data)
{
	struct receiver *receiver = data;
	struct connection *connection = g_new0(struct connection, 1);

	(void)length;
	connection->receiver = receiver;
	connection->link.data = connection;
	post_begin(&connection->post);
	connection->bev = bufferevent_socket_new(receiver->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!connection->bev) {
		evutil_closesocket(fd);
		g_free(connection);
		return;
	}
	format_address(address, connection->peer);
	g_queue_push_tail_link(&receiver->connections, &connection->link);
	bufferevent_setcb(connection->bev, on_read, on_written, on_event, connection);
	bufferevent_setwatermark(connection->bev, EV_READ, 0, FRAME_MAX + sizeof(uint32_t));
	bufferevent_enable(connection->bev, EV_READ | EV_WRITE);
	if (receiver->connections.length >= CONNECTIONS_MAX)
		evconnlistener_disable(listener);
}

static void on_accept_error(struct evconnlistener *listener, void *data)
{
	struct receiver *receiver = data;

	log_warning("cannot accept a connection: %s", strerror(errno));
	evconnlistener_disable(listener);
	event_add(receiver->resume, &accept_pause);
}

static void on_resume(evutil_socket_t fd, short what, void *data)
{
	struct receiver *receiver = data;

	(void)fd;
	(void)what;
	if (!receiver->drained)
		evconnlistener_enable(receiver->listener);
}

static void on_give_up(evutil_socket_t fd, short what, void *data)
{
	struct receiver *receiver = data;

	(void)fd;
	(void)what;
	receiver->drained(receiver->drained_data);
}

static void on_drain(evutil_socket_t fd, short what, void *data)
{
	(void)fd;
	(void)what;
	check_drained(data);
}

bool receiver_parse_address(const char *text, struct sockaddr_storage *address, int *length)
{
	const char *colon = strrchr(text, ':');
	struct evutil_addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
	size_t size = colon ? (size_t)(colon - text) : 0;
	char *host = NULL;
	guint64 port;
	bool good = false;

	if (!size || !g_ascii_string_to_unsigned(colon + 1, 10, 0, UINT16_MAX, &port, NULL))
		return false;
	if (text[0] == '[' && text[size - 1] == ']')
		host = g_strndup(text + 1, size - 2);
	else if (!memchr(text, ':', size))
		host = g_strndup(text, size);
	if (!host || evutil_getaddrinfo(host, colon + 1, &hints, &found) != 0)
		goto out;
	memset(address, 0, sizeof(*address));
	memcpy(address, found->ai_addr, found->ai_addrlen);
	*length = (int)found->ai_addrlen;
	good = true;
out:
	if (found)
		evutil_freeaddrinfo(found);
	g_free(host);
	return good;
}

/* Listens, and finds out where. */
static bool start_listening(struct receiver *receiver)
{
	struct sockaddr_storage address;
	socklen_t length = sizeof(address);
	int error;

	receiver->listener = evconnlistener_new_bind(receiver->base, on_accept, receiver,
		LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE | LEV_OPT_CLOSE_ON_EXEC, -1,
		(const struct sockaddr *)&receiver->options.address, receiver->options.address_length);
	if (!receiver->listener) {
		error = errno;
		format_address((const struct sockaddr *)&receiver->options.address, receiver->address);
		log_error("cannot listen on %s: %s%s", receiver->address, strerror(error),
			error == EADDRINUSE
				? " (another `blkin collect`, or Zipkin? --listen takes another address)"
				: "");
		return false;
	}
	evconnlistener_set_error_cb(receiver->listener, on_accept_error);
	getsockname(evconnlistener_get_fd(receiver->listener), (struct sockaddr *)&address, &length);
	format_address((struct sockaddr *)&address, receiver->address);
	return true;
}

struct receiver *receiver_create(struct event_base *base, const struct receiver_options *options)
{
	struct receiver *receiver = g_new0(struct receiver, 1);

	receiver->base = base;
	receiver->options = *options;
	receiver->service.category = options->category;
	receiver->service.alive_since = time(NULL);
	receiver->resume = evtimer_new(base, on_resume, receiver);
	receiver->drain = evtimer_new(base, on_drain, receiver);
	receiver->give_up = evtimer_new(base, on_give_up, receiver);
	g_queue_init(&receiver->connections);
	if (!start_listening(receiver)) {
		receiver_destroy(receiver);
		receiver = NULL;
	}
	return receiver;
}

void receiver_destroy(struct receiver *receiver)
{
	if (!receiver)
		return;
	if (receiver->listener)
		evconnlistener_free(receiver->listener);
	receiver->listener = NULL;
	while (receiver->connections.head)
		close_connection(receiver->connections.head->data);
	event_free(receiver->resume);
	event_free(receiver->drain);
	event_free(receiver->give_up);
	g_free(receiver);
}

const char *receiver_address(const struct receiver *receiver)
{
	return receiver->address;
}

void receiver_drain(struct receiver *receiver, void (*done)(void *data), void *data)
{
	receiver->drained = done;
	receiver->drained_data = data;
	evconnlistener_disable(receiver->listener);
	/* Not now: the last call's answer may still have to be written. */
	event_active(receiver->drain, EV_TIMEOUT, 0);
	event_add(receiver->give_up, &drain_time);
}
