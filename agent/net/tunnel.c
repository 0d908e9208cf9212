/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* memmem */

#include "net/tunnel.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include <glib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "base/sanitize.h"

struct tunnel {
	int fd;
	struct address server;
	bool named; /* the request says who we are */
	struct buffer request, answer;
	int64_t timeout_ns, end; /* CLOCK_MONOTONIC ns; however slowly it answers */
	struct event *event;
	tunnel_done *done;
	void *data;
};

/* Waits until the socket is ready for @what. */
static bool wait_for(struct tunnel *tunnel, short what, event_callback_fn ready)
{
	struct timeval time = clock_timeval(MAX(tunnel->end - clock_monotonic(), 0));
	struct event_base *base = event_get_base(tunnel->event);

	return event_assign(tunnel->event, base, tunnel->fd, what, ready, tunnel) == 0 &&
	       event_add(tunnel->event, &time) == 0;
}

static void end(struct tunnel *tunnel, enum fault fault, const char *why)
{
	tunnel->done(fault, why, tunnel->data);
}

static void end_with_error(struct tunnel *tunnel, int error)
{
	char why[160];

	snprintf(why, sizeof(why), "the connection to the proxy broke: %s", g_strerror(error));
	end(tunnel, FAULT_PROXY, why);
}

static void end_late(struct tunnel *tunnel)
{
	char why[64];

	snprintf(why, sizeof(why), "no answer from the proxy within %g s", (double)tunnel->timeout_ns / 1e9);
	end(tunnel, FAULT_PROXY, why);
}

/* Answers */

static enum fault fault_of(int status)
{
	switch (status) {
	case 401: /* as tinyproxy has it, if they are wrong */
	case 407:
		return FAULT_PROXY_LOGIN;
	case 400:
	case 404:
	case 405:
	case 501:
		return FAULT_PROXY; /* of web servers, too */
	default:
		return status >= 500 ? FAULT_PROXY_BEYOND : FAULT_PROXY_DENIES;
	}
}

/* A proxy that opens no tunnel says why in its status; its page is not read. */
static void end_refused(struct tunnel *tunnel, int status, const char *reason)
{
	enum fault fault = fault_of(status);
	char why[320], server[ADDRESS_TEXT], said[96];

	address_print(&tunnel->server, server);
	snprintf(said, sizeof(said), "HTTP status %d%s%s", status, *reason ? " " : "", reason);
	if (fault == FAULT_PROXY_LOGIN)
		snprintf(why, sizeof(why), "the proxy %s: %s",
			tunnel->named ? "does not accept our user and password" : "wants a user and password",
			said);
	else if (fault == FAULT_PROXY)
		snprintf(why, sizeof(why), "what answers is no proxy, or opens no tunnels: %s", said);
	else if (fault == FAULT_PROXY_BEYOND)
		snprintf(why, sizeof(why), "the proxy gets no connection to %.128s: %s", server, said);
	else
		snprintf(why, sizeof(why), "the proxy does not allow a tunnel to %.128s: %s%s", server, said,
			tunnel->server.port == 443 ? "" : "; many proxies allow port 443 only");
	end(tunnel, fault, why);
}

static void end_foreign(struct tunnel *tunnel)
{
	char why[160], words[64];

	if (words_readable(tunnel->answer.data, MIN(tunnel->answer.size, 16))) {
		words_copy(words, sizeof(words), tunnel->answer.data, tunnel->answer.size);
		snprintf(why, sizeof(why), "what answers is no HTTP proxy: it says \"%s\"", words);
	} else {
		snprintf(why, sizeof(why), "what answers is no HTTP proxy");
	}
	end(tunnel, FAULT_PROXY, why);
}

/* Takes the head, of @size bytes. */
static void take_head(struct tunnel *tunnel, size_t size)
{
	char line[128] = "", reason[64];
	int minor, status, used = 0;

	memcpy(line, tunnel->answer.data, MIN(sizeof(line) - 1, size));
	line[strcspn(line, "\r\n")] = '\0';
	if (sscanf(line, "HTTP/1.%1d %3d%n", &minor, &status, &used) != 2 || status < 200 ||
		(line[used] != ' ' && line[used])) {
		end_foreign(tunnel);
		return;
	}
	used += line[used] == ' ';
	words_copy(reason, sizeof(reason), (const uint8_t *)line + used, strlen(line + used));
	if (status >= 300)
		end_refused(tunnel, status, reason);
	else if (size < tunnel->answer.size) /* a server of TLS does not speak first */
		end(tunnel, FAULT_PROXY,
			"what answers is no proxy: it says more than that there is a tunnel");
	else
		end(tunnel, FAULT_NONE, "");
}

static void on_answer(evutil_socket_t fd, short what, void *arg)
{
	struct tunnel *tunnel = arg;
	struct buffer *answer = &tunnel->answer;
	ssize_t size;
	const uint8_t *stop;

	if (what & EV_TIMEOUT) {
		end_late(tunnel);
		return;
	}
	size = recv(fd, buffer_reserve(answer, TUNNEL_ANSWER_MAX - answer->size),
		TUNNEL_ANSWER_MAX - answer->size, 0);
	if (size < 0 && errno != EAGAIN && errno != EINTR) {
		end_with_error(tunnel, errno);
		return;
	}
	if (size == 0) {
		end(tunnel, FAULT_PROXY, "the proxy closed the connection");
		return;
	}
	answer->size += size > 0 ? (size_t)size : 0;
	stop = answer->size ? memmem(answer->data, answer->size, "\r\n\r\n", 4) : NULL;
	if (memcmp(answer->data, "HTTP/", MIN(answer->size, 5)) != 0)
		end_foreign(tunnel);
	else if (stop)
		take_head(tunnel, (size_t)(stop - answer->data) + 4);
	else if (answer->size == TUNNEL_ANSWER_MAX)
		end(tunnel, FAULT_PROXY, "what answers is no proxy: its headers do not end");
	else if (!wait_for(tunnel, EV_READ, on_answer))
		end_with_error(tunnel, ENOMEM);
}

/* A few hundred bytes, which a new socket has room for. */
static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct tunnel *tunnel = arg;
	ssize_t size;

	if (what & EV_TIMEOUT) {
		end_late(tunnel);
		return;
	}
	size = send(fd, tunnel->request.data, tunnel->request.size, MSG_NOSIGNAL);
	if (size != (ssize_t)tunnel->request.size)
		end_with_error(tunnel, size < 0 ? errno : ENOBUFS);
	else if (!wait_for(tunnel, EV_READ, on_answer))
		end_with_error(tunnel, ENOMEM);
}

struct tunnel *tunnel_create(
	struct event_base *base, const struct tunnel_options *options, tunnel_done *done, void *data)
{
	struct tunnel *tunnel = memory_get(sizeof(*tunnel));
	char server[ADDRESS_TEXT];

	tunnel->fd = options->fd;
	tunnel->server = *options->server;
	tunnel->named = options->login->size > 0;
	tunnel->timeout_ns = options->timeout_ns;
	tunnel->end = clock_monotonic() + options->timeout_ns;
	tunnel->done = done;
	tunnel->data = data;
	address_print(options->server, server);
	buffer_printf(&tunnel->request, "CONNECT %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: blkin-agent/%s\r\n",
		server, server, BLKIN_VERSION);
	buffer_put(&tunnel->request, options->login->data, options->login->size);
	buffer_put(&tunnel->request, "\r\n", 2);
	tunnel->event = event_new(base, tunnel->fd, EV_WRITE, on_writable, tunnel);
	if (tunnel->event && wait_for(tunnel, EV_WRITE, on_writable))
		return tunnel;
	tunnel_destroy(tunnel);
	return NULL;
}

void tunnel_destroy(struct tunnel *tunnel)
{
	if (!tunnel)
		return;
	if (tunnel->event)
		event_free(tunnel->event);
	if (tunnel->request.data)
		explicit_bzero(tunnel->request.data, tunnel->request.size);
	buffer_free(&tunnel->request);
	buffer_free(&tunnel->answer);
	free(tunnel);
}
