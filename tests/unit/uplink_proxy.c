/* SPDX-License-Identifier: BSD-2-Clause */
/* An HTTP proxy on the way: what it is asked, and what becomes of what it may answer. */
#include "uplink_web.h"

#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/listener.h>
#include <netinet/in.h>

#include "base/proxyurl.h"
#include "core/fault.h"

/* A peer that may be asked for tunnels, and opens none. */
struct tunneller {
	struct web web;
	const char *answer; /* NULL: none */
	size_t size, written;
	bool drips; /* a byte at a time */
	unsigned int asked;
	char request[1024]; /* the latest */
	struct evconnlistener *listener;
	GList *streams;
	struct event *drip;
	char url[64];
};

static void end_stream(struct bufferevent *stream, short what, void *arg)
{
	struct tunneller *proxy = arg;

	(void)what;
	proxy->streams = g_list_remove(proxy->streams, stream);
	bufferevent_free(stream);
}

static void on_asked(struct bufferevent *stream, void *arg)
{
	struct tunneller *proxy = arg;
	struct evbuffer *input = bufferevent_get_input(stream);
	size_t size = evbuffer_get_length(input);

	if (evbuffer_search(input, "\r\n\r\n", 4, NULL).pos < 0 || size >= sizeof(proxy->request))
		return; /* what is said in a tunnel */
	memset(proxy->request, 0, sizeof(proxy->request));
	evbuffer_remove(input, proxy->request, size);
	proxy->asked++;
	if (proxy->drips)
		return;
	if (proxy->answer && proxy->size == 0)
		end_stream(stream, 0, proxy);
	else if (proxy->answer)
		bufferevent_write(stream, proxy->answer, proxy->size);
}

static void on_drip(evutil_socket_t fd, short what, void *arg)
{
	struct tunneller *proxy = arg;

	(void)fd;
	(void)what;
	for (GList *at = proxy->drips ? proxy->streams : NULL; at; at = at->next)
		bufferevent_write(at->data, proxy->answer + proxy->written++ % proxy->size, 1);
}

static void on_client(
	struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int size, void *arg)
{
	struct tunneller *proxy = arg;
	struct bufferevent *stream =
		bufferevent_socket_new(evconnlistener_get_base(listener), fd, BEV_OPT_CLOSE_ON_FREE);

	(void)address;
	(void)size;
	proxy->written = 0;
	bufferevent_setcb(stream, on_asked, NULL, end_stream, proxy);
	bufferevent_enable(stream, EV_READ | EV_WRITE);
	proxy->streams = g_list_prepend(proxy->streams, stream);
}

static void open_proxy(struct tunneller *proxy, const char *user)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval often = {0, 20000};
	socklen_t length = sizeof(address);

	memset(proxy, 0, sizeof(*proxy));
	open_web(&proxy->web, SQUEEZE_NONE);
	proxy->listener = evconnlistener_new_bind(proxy->web.rig.base, on_client, proxy,
		LEV_OPT_CLOSE_ON_FREE, -1, (struct sockaddr *)&address, sizeof(address));
	getsockname(evconnlistener_get_fd(proxy->listener), (struct sockaddr *)&address, &length);
	proxy->drip = event_new(proxy->web.rig.base, -1, EV_PERSIST, on_drip, proxy);
	event_add(proxy->drip, &often);
	snprintf(proxy->url, sizeof(proxy->url), "http://%s127.0.0.1:%u/", user, ntohs(address.sin_port));
	proxy->web.rig.is.proxy = proxy->url;
	proxy->web.rig.is.tls = true;
	proxy->web.rig.is.tls_ca = "";
	/* a name that is nobody's: the proxy would look it up */
	snprintf(proxy->web.rig.server, sizeof(proxy->web.rig.server), "collector.invalid:4318");
}

static void close_proxy(struct tunneller *proxy)
{
	evconnlistener_free(proxy->listener);
	event_free(proxy->drip);
	while (proxy->streams)
		end_stream(proxy->streams->data, 0, proxy);
	close_web(&proxy->web);
}

#define TEXT(text) text, sizeof(text) - 1

static const struct {
	const char *answer;
	size_t size;
	enum fault fault;
	const char *words;
} answers[] = {
	{TEXT("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic "
	      "realm=\"x\"\r\nContent-Length: 900\r\n\r\n<html>"),
		FAULT_PROXY_LOGIN,
		"the proxy wants a user and password: HTTP status 407 Proxy Authentication Required"},
	{TEXT("HTTP/1.0 401 Unauthorized\r\n\r\n"), FAULT_PROXY_LOGIN,
		"the proxy wants a user and password: HTTP status 401 Unauthorized"},
	{TEXT("HTTP/1.1 403 Forbidden\r\n\r\n"), FAULT_PROXY_DENIES,
		"the proxy does not allow a tunnel to collector.invalid:4318: HTTP status 403 Forbidden; "
		"many proxies allow port 443 only"},
	{TEXT("HTTP/1.0 302\r\nLocation: http://login/\r\n\r\n"), FAULT_PROXY_DENIES,
		"the proxy does not allow a tunnel to collector.invalid:4318: HTTP status 302; many"},
	{TEXT("HTTP/1.1 502 Bad Gateway\r\n\r\n"), FAULT_PROXY_BEYOND,
		"the proxy gets no connection to collector.invalid:4318: HTTP status 502 Bad Gateway"},
	{TEXT("HTTP/1.1 504 Gateway Timeout\r\nConnection: close\r\n\r\n"), FAULT_PROXY_BEYOND,
		"the proxy gets no connection to collector.invalid:4318: HTTP status 504 Gateway Timeout"},
	{TEXT("HTTP/1.1 405 Method Not Allowed\r\nServer: nginx\r\n\r\n"), FAULT_PROXY,
		"what answers is no proxy, or opens no tunnels: HTTP status 405 Method Not Allowed"},
	{TEXT("HTTP/1.1 200 a\x1b[31mb\r\n\r\nmore"), FAULT_PROXY,
		"what answers is no proxy: it says more than that there is a tunnel"},
	{TEXT("HTTP/1.1 40\x1b \r\n\r\n"), FAULT_PROXY, "what answers is no HTTP proxy"},
	{TEXT("HTTP/2.0 200 Good\r\n\r\n"), FAULT_PROXY,
		"what answers is no HTTP proxy: it says \"HTTP/2.0 200 Good"},
	{TEXT("HTTP/1.1 2000 Good\r\n\r\n"), FAULT_PROXY, "what answers is no HTTP proxy"},
	{TEXT("HTTP/1.1 100 Continue\r\n\r\n"), FAULT_PROXY, "what answers is no HTTP proxy"},
	{TEXT("HTTP/1.1\r\n\r\n"), FAULT_PROXY, "what answers is no HTTP proxy"},
	{TEXT("SSH-2.0-OpenSSH_9.2\r\n"), FAULT_PROXY,
		"what answers is no HTTP proxy: it says \"SSH-2.0-OpenSSH_9.2"},
	{TEXT("\x05\xff\x01\x02\x03"), FAULT_PROXY, "what answers is no HTTP proxy"},
	{TEXT(""), FAULT_PROXY, "the proxy closed the connection"},
	{NULL, 0, FAULT_PROXY, "no answer from the proxy within 0.25 s"},
	{TEXT("HTTP/1.1 200 "), FAULT_PROXY, "no answer from the proxy within 0.25 s"},
	/* there is a tunnel, and what is behind it is not what was meant */
	{TEXT("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n"), FAULT_TLS_NONE,
		"no answer from the server to the TLS handshake within 0.25 s"},
};

/* Each is told once, in a sentence; the spans wait. */
START_TEST(tunnel_that_does_not_open)
{
	struct tunneller proxy;
	struct rig *rig = &proxy.web.rig;

	open_proxy(&proxy, "");
	proxy.answer = answers[_i].answer;
	proxy.size = answers[_i].size;
	if (strstr(answers[_i].words, "within"))
		rig->is.timeout = SHORT_TIMEOUT;
	push(rig, 2);
	start(rig);
	RUN_UNTIL(rig, proxy.asked >= 3 && state_of(rig).servers[0].fault == answers[_i].fault);
	ck_assert_msg(g_str_has_prefix(state_of(rig).error, answers[_i].words), "%s", state_of(rig).error);
	ck_assert_str_eq(proxy.request,
		"CONNECT collector.invalid:4318 HTTP/1.1\r\nHost: collector.invalid:4318\r\n"
		"User-Agent: blkin-agent/" BLKIN_VERSION "\r\n\r\n");
	ck_assert_uint_eq(in_log(rig, answers[_i].words), 1);
	ck_assert_uint_eq(in_log(rig, " through the proxy 127.0.0.1:"), 1);
	ck_assert_int_eq(row(rig, SPANS_SENT), 0);
	ck_assert_int_gt(errors(rig), 0);
	close_proxy(&proxy);
}
END_TEST

/* Neither a long answer nor a slow one is waited for, or kept. */
START_TEST(answer_without_an_end)
{
	char *line = g_strnfill(2 << 20, 'x');
	g_autofree char *endless = g_strconcat("HTTP/1.1 200 Good\r\nX: ", line, NULL);
	struct tunneller proxy;
	struct rig *rig = &proxy.web.rig;

	open_proxy(&proxy, "");
	proxy.drips = _i;
	proxy.answer = endless;
	proxy.size = strlen(endless);
	if (proxy.drips)
		rig->is.timeout = SHORT_TIMEOUT;
	push(rig, 1);
	start(rig);
	RUN_UNTIL(rig, proxy.asked >= 3);
	ck_assert_str_eq(state_of(rig).error, _i ? "no answer from the proxy within 0.25 s"
						 : "what answers is no proxy: its headers do not end");
	close_proxy(&proxy);
	g_free(line);
}
END_TEST

static const struct {
	const char *user, *file, *header, *words;
} logins[] = {
	{"blkin:pass@", NULL, "YmxraW46cGFzcw==", "the proxy does not accept our user and password"},
	{"blkin:p%40ss%3a@", "", "YmxraW46cEBzczo=", "the proxy does not accept our user and password"},
	{"blkin@", "pass\nmore\n", "YmxraW46cGFzcw==", "the proxy does not accept our user and password"},
	{"blkin@", NULL, "YmxraW46", "the proxy does not accept our user and password"},
};

static char *write_file(const char *text)
{
	char *path = g_strdup("/tmp/blkin-proxy-XXXXXX");
	int fd = mkstemp(path);

	ck_assert_int_eq(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	return path;
}

START_TEST(login_at_a_tunnel)
{
	g_autofree char *path =
		logins[_i].file && *logins[_i].file ? write_file(logins[_i].file) : g_strdup("");
	g_autofree char *header =
		g_strdup_printf("\r\nProxy-Authorization: Basic %s\r\n\r\n", logins[_i].header);
	struct tunneller proxy;
	struct rig *rig = &proxy.web.rig;

	open_proxy(&proxy, logins[_i].user);
	rig->is.proxy_secret_file = logins[_i].file ? path : NULL;
	proxy.answer = "HTTP/1.1 407 No\r\n\r\n";
	proxy.size = strlen(proxy.answer);
	push(rig, 1);
	start(rig);
	RUN_UNTIL(rig, proxy.asked && state_of(rig).servers[0].fault == FAULT_PROXY_LOGIN);
	ck_assert_ptr_nonnull(strstr(proxy.request, header));
	ck_assert(g_str_has_prefix(state_of(rig).error, logins[_i].words));
	ck_assert_uint_eq(in_log(rig, "pass@"), 0);
	close_proxy(&proxy);
	if (*path)
		unlink(path);
}
END_TEST

/* The file is read with each connection. */
START_TEST(password_that_cannot_be_read)
{
	g_autofree char *path = write_file("\n"), *words = NULL;
	struct tunneller proxy;
	struct rig *rig = &proxy.web.rig;

	open_proxy(&proxy, "blkin@");
	rig->is.tls = _i;
	rig->is.proxy_secret_file = path;
	push(rig, 1);
	start(rig);
	RUN_UNTIL(rig, state_of(rig).servers[0].fault == FAULT_PASSWORD);
	words = g_strdup_printf("the password in `%s` cannot be read: its first line is empty", path);
	ck_assert_str_eq(state_of(rig).error, words);
	ck_assert_uint_eq(proxy.asked, 0);
	ck_assert(g_file_set_contents(path, "good", -1, NULL));
	RUN_UNTIL(rig, proxy.asked);
	ck_assert_ptr_nonnull(strstr(proxy.request, "\r\nProxy-Authorization: Basic YmxraW46Z29vZA==\r\n"));
	close_proxy(&proxy);
	unlink(path);
}
END_TEST

static const struct {
	const char *proxy, *words;
} unreached[] = {
	{"127.0.0.1:9", "the proxy cannot be reached: connection refused"},
	{"proxy.invalid:3128", "the proxy cannot be reached: no address for proxy.invalid"},
};

START_TEST(proxy_that_is_not_there)
{
	struct tunneller proxy;
	struct rig *rig = &proxy.web.rig;

	open_proxy(&proxy, "");
	rig->is.tls = _i % 2;
	rig->is.proxy = (char *)unreached[_i / 2].proxy;
	rig->is.timeout = 5 * NS_PER_SECOND;
	push(rig, 1);
	start(rig);
	RUN_UNTIL(rig, state_of(rig).servers[0].fault == FAULT_PROXY);
	ck_assert_msg(
		g_str_has_prefix(state_of(rig).error, unreached[_i / 2].words), "%s", state_of(rig).error);
	ck_assert_int_gt(row(rig, OUTPUT_ERRORS_CONNECT), 0);
	close_proxy(&proxy);
}
END_TEST

/* Without TLS the proxy gets the requests, which name the server; pipelined as ever. */
START_TEST(requests_for_a_proxy)
{
	unsigned int connections;
	int64_t again;
	char proxy[64];
	struct web web;

	open_web(&web, SQUEEZE_GZIP);
	snprintf(proxy, sizeof(proxy), "blkin:pass@127.0.0.1:%u", web.peer->port);
	web.rig.is.proxy = proxy;
	web.peer->path = "http://collector.invalid:9411/api/v1/spans";
	web.peer->host = "collector.invalid:9411";
	ANSWER(web.peer,
		"HTTP/1.1 202 Accepted\r\nProxy-Connection: keep-alive\r\nContent-Length: 0\r\n\r\n");
	web.peer->header = "Proxy-Authorization: Basic YmxraW46cGFzcw==";
	snprintf(web.rig.server, sizeof(web.rig.server), "collector.invalid:9411");
	push(&web.rig, 40);
	start(&web.rig);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	ck_assert_int_eq(errors(&web.rig), 0);
	ck_assert_uint_eq(web.peer->connections, 1);
	ck_assert_uint_gt(web.peer->open_max, 1);
	ANSWER(web.peer, "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n");
	push(&web.rig, 1);
	RUN_UNTIL(&web.rig, state_of(&web.rig).servers[0].fault == FAULT_PROXY_LOGIN);
	ck_assert_str_eq(state_of(&web.rig).error,
		"HTTP status 407 No; the proxy wants a user and password that it accepts");
	ANSWER(web.peer, WEB_GOOD);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	/* one that does not say that the connection stays may end it at any time */
	connections = web.peer->connections;
	again = row(&web.rig, SPANS_SENT_AGAIN);
	push(&web.rig, 10);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	ck_assert_uint_ge(web.peer->connections, connections + 9);
	ASSERT_ROW(&web.rig, SPANS_SENT_AGAIN, again);
	close_web(&web);
}
END_TEST

static const struct {
	const char *text, *user, *password, *host;
	uint16_t port;
	const char *wrong, *concealed; /* NULL: as it is */
} urls[] = {
	{"proxy:3128", "", "", "proxy", 3128, NULL, NULL},
	{"http://proxy.example.org:3128/", "", "", "proxy.example.org", 3128, NULL, NULL},
	{"HTTP://u@[::1]:80", "u", "", "::1", 80, NULL, NULL},
	{"http://u:p@h:1", "u", "p", "h", 1, NULL, "http://u:***@h:1"},
	{"u%20:p%25%40:@h:1/", "u ", "p%@:", "h", 1, NULL, "u%20:***@h:1/"},
	{"u:p@x@h:1", "u", "p@x", "h", 1, NULL, "u:***@h:1"},
	{"http://proxy", NULL, NULL, NULL, 0, "is not valid: it must be HOST:PORT", NULL},
	{"http://proxy:80/path", NULL, NULL, NULL, 0, "is not valid: it must be HOST:PORT", NULL},
	{"http://", NULL, NULL, NULL, 0, "is not valid: it must be HOST:PORT", NULL},
	{"https://u:p@h:1", NULL, NULL, NULL, 0, "asks for TLS to the proxy itself", "https://u:***@h:1"},
	{"socks5://h:1", NULL, NULL, NULL, 0, "is no HTTP proxy", NULL},
	{"@h:1", NULL, NULL, NULL, 0, "is not valid: before the @", NULL},
	{":p@h:1", NULL, NULL, NULL, 0, "is not valid: before the @", ":***@h:1"},
	{"u%3a@h:1", NULL, NULL, NULL, 0, "is not valid: before the @", NULL},
	{"u%zz@h:1", NULL, NULL, NULL, 0, "is not valid: before the @", NULL},
	{"u%0d%0aX@h:1", NULL, NULL, NULL, 0, "is not valid: before the @", NULL},
	{"u%00@h:1", NULL, NULL, NULL, 0, "is not valid: before the @", NULL},
};

START_TEST(addresses_of_proxies)
{
	struct proxyurl url;
	const char *wrong = proxyurl_parse(urls[_i].text, &url);
	g_autofree char *concealed = proxyurl_conceal(urls[_i].text);

	ck_assert_msg(!wrong == !urls[_i].wrong, "%s: %s", urls[_i].text, wrong);
	if (wrong) {
		ck_assert_msg(g_str_has_prefix(wrong, urls[_i].wrong), "%s: %s", urls[_i].text, wrong);
	} else {
		ck_assert_str_eq(url.user, urls[_i].user);
		ck_assert_str_eq(url.password, urls[_i].password);
		ck_assert_str_eq(url.address.host, urls[_i].host);
		ck_assert_uint_eq(url.address.port, urls[_i].port);
	}
	ck_assert_str_eq(concealed, urls[_i].concealed ? urls[_i].concealed : urls[_i].text);
}
END_TEST

/* With a balance it is the connection to the proxy that is replaced. */
START_TEST(connection_to_proxy_is_replaced)
{
	char proxy[64];
	struct web web;

	open_web(&web, SQUEEZE_GZIP);
	snprintf(proxy, sizeof(proxy), "127.0.0.1:%u", web.peer->port);
	web.rig.is.proxy = proxy;
	web.rig.options.node = "n1";
	web.rig.options.age_ns = 20 * NS_PER_MS;
	web.peer->path = "http://collector.invalid:9411/api/v1/spans";
	web.peer->host = "collector.invalid:9411";
	snprintf(web.rig.server, sizeof(web.rig.server), "collector.invalid:9411");
	ANSWER(web.peer, "HTTP/1.1 202 Accepted\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n");
	start(&web.rig);
	for (int i = 0; i < 1000 && web.peer->connections < 10; i++) {
		push(&web.rig, 2);
		run_ms(&web.rig, 5);
	}
	ck_assert_uint_ge(web.peer->connections, 10);
	RUN_UNTIL(&web.rig, row(&web.rig, SPANS_SENT) == web.rig.pushed);
	ck_assert_uint_eq(web.peer->taken->len, web.rig.pushed);
	ck_assert_int_eq(errors(&web.rig), 0);
	ck_assert(g_str_has_prefix(state_of(&web.rig).reached.address, "127.0.0.1:"));
	close_web(&web);
}
END_TEST

TCase *uplink_proxy(void)
{
	TCase *tcase = tcase_create("proxy");

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, addresses_of_proxies, 0, LENGTH(urls));
	tcase_add_loop_test(tcase, tunnel_that_does_not_open, 0, LENGTH(answers));
	tcase_add_loop_test(tcase, answer_without_an_end, 0, 2);
	tcase_add_loop_test(tcase, login_at_a_tunnel, 0, LENGTH(logins));
	tcase_add_loop_test(tcase, password_that_cannot_be_read, 0, 2);
	tcase_add_loop_test(tcase, proxy_that_is_not_there, 0, 2 * LENGTH(unreached));
	tcase_add_test(tcase, requests_for_a_proxy);
	tcase_add_test(tcase, connection_to_proxy_is_replaced);
	return tcase;
}
