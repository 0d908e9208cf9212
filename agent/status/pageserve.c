/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/pageserve.h"

#include <stdio.h>
#include <string.h>

#include <event2/buffer.h>
#include <glib.h>

#include "base/address.h"
#include "status/page.h"
#include "status/spansjson.h"
#include "status/tracefind.h"

/* A year, in seconds. */
#define COOKIE_AGE 31536000
#define BEARER "Bearer "

/* Who may see it */

/* Whether ours is among them: other servers of this host may have set one of its name, too. */
static bool brings_cookie(const char *header, const struct pagekey *key)
{
	g_auto(GStrv) cookies = g_strsplit(header ? header : "", ";", -1);
	size_t name = strlen(key->cookie);
	bool fits = false;

	for (char **cookie = cookies; *cookie; cookie++)
		fits |= g_str_has_prefix(g_strstrip(*cookie), key->cookie) && (*cookie)[name] == '=' &&
			pagekey_fits(key, *cookie + name + 1);
	return fits;
}

bool pageserve_allows(struct evhttp_request *request, const struct pagekey *key, const struct config *config)
{
	struct evkeyvalq *headers = evhttp_request_get_input_headers(request);
	const char *authorization = evhttp_find_header(headers, "Authorization");

	if (config->page != CONFIG_PAGE_TOKEN)
		return config->page == CONFIG_PAGE_OPEN;
	if (authorization && g_ascii_strncasecmp(authorization, BEARER, strlen(BEARER)) == 0)
		return pagekey_fits(key, authorization + strlen(BEARER));
	return brings_cookie(evhttp_find_header(headers, "Cookie"), key);
}

/* The right token in the address. */
static bool brings_token(const char *query, const struct pagekey *key)
{
	g_autoptr(GHashTable) parameters =
		query ? g_uri_parse_params(query, -1, "&", G_URI_PARAMS_NONE, NULL) : NULL;

	return parameters && pagekey_fits(key, g_hash_table_lookup(parameters, "token"));
}

/* Answers */

static void add_header(struct evhttp_request *request, const char *name, const char *value)
{
	evhttp_add_header(evhttp_request_get_output_headers(request), name, value);
}

/* With the answer the connection is over, as with all others here. Nobody keeps it, or shows it in a frame.
 */
static void answer(struct evhttp_request *request, int code, const char *type, const struct buffer *body)
{
	struct evbuffer *out = evbuffer_new();

	add_header(request, "Content-Type", type);
	add_header(request, "Content-Security-Policy", page_policy());
	add_header(request, "X-Content-Type-Options", "nosniff");
	add_header(request, "Referrer-Policy", "no-referrer");
	add_header(request, "Cross-Origin-Resource-Policy", "same-origin");
	add_header(request, "Cache-Control", "no-store");
	add_header(request, "Connection", "close");
	evbuffer_add(out, body->data, body->size);
	evhttp_send_reply(request, code, NULL, out);
	evbuffer_free(out);
}

#define HTML "text/html; charset=utf-8"
#define JSON "application/json"
#define PLAIN "text/plain; charset=utf-8"

/*
 * The token goes from the address into a cookie, which no script and no other site gets. A link on another
 * site leads to the page with it (Lax), or the address would not let in who clicks it there; all is read
 * only.
 */
static void let_in(struct evhttp_request *request, const struct pagekey *key)
{
	char cookie[200];

	snprintf(cookie, sizeof(cookie), "%s=%s; Path=/; Max-Age=%d; HttpOnly; SameSite=Lax", key->cookie,
		key->token, COOKIE_AGE);
	add_header(request, "Set-Cookie", cookie);
	add_header(request, "Location", "/");
	answer(request, 303, PLAIN, &(struct buffer){0});
}

static void answer_page(struct evhttp_request *request, const struct status_source *source, const char *query)
{
	struct buffer body = {0};
	struct status *status = status_create(source);
	struct view view;

	view_read(&view, query, WINDOW_1);
	page_write(&body, status, &view);
	status_destroy(status);
	answer(request, HTTP_OK, HTML, &body);
	view_clear(&view);
	buffer_free(&body);
}

/* Writes what is asked for, or returns what is wrong with the question. */
typedef const char *write_answer(struct buffer *out, const struct status_source *source, const char *query);

static const char *write_spans(struct buffer *out, const struct status_source *source, const char *query)
{
	return spansjson_write(out, source->monitor, query);
}

static const char *write_histogram(struct buffer *out, const struct status_source *source, const char *query)
{
	return spansjson_write_histogram(out, source->monitor, query);
}

static const char *find_trace(
	struct found_trace *found, const struct status_source *source, const char *query)
{
	g_autofree char *answers = g_build_filename(source->config->state_directory, FLIGHT_FOLDER, NULL);

	return tracefind(found, source->traces, answers, query);
}

static const char *write_trace(struct buffer *out, const struct status_source *source, const char *query)
{
	struct found_trace found;
	const char *wrong = find_trace(&found, source, query);

	if (wrong)
		return wrong;
	page_write_trace(out, &found, source->config);
	found_trace_clear(&found);
	return NULL;
}

static const char *write_trace_json(struct buffer *out, const struct status_source *source, const char *query)
{
	struct found_trace found;
	const char *wrong = find_trace(&found, source, query);

	if (wrong)
		return wrong;
	tracefind_put_json(out, &found);
	found_trace_clear(&found);
	return NULL;
}

static const char *write_why_json(struct buffer *out, const struct status_source *source, const char *query)
{
	struct found_trace found;
	const char *wrong = find_trace(&found, source, query);

	if (wrong)
		return wrong;
	answer_put_json(out, &found.answer);
	found_trace_clear(&found);
	return NULL;
}

static const struct question {
	const char *path, *type;
	write_answer *write; /* NULL: the page itself */
} questions[] = {
	{"/", HTML, NULL},
	{SPANSJSON_PATH, JSON, write_spans},
	{SPANSJSON_HISTOGRAM_PATH, JSON, write_histogram},
	{TRACE_PATH, HTML, write_trace},
	{TRACE_JSON_PATH, JSON, write_trace_json},
	{TRACE_WHY_PATH, JSON, write_why_json},
};

static void answer_question(struct evhttp_request *request, const struct question *question,
	const struct status_source *source, const char *query)
{
	struct buffer body = {0};
	const char *wrong = question->write(&body, source, query);

	if (wrong) {
		body.size = 0;
		buffer_printf(&body, "%s\n", wrong);
	}
	answer(request, wrong ? HTTP_BADREQUEST : HTTP_OK, wrong ? PLAIN : question->type, &body);
	buffer_free(&body);
}

static void deny(struct evhttp_request *request, bool page)
{
	struct buffer body = {0};

	if (page)
		page_write_denied(&body);
	else
		buffer_printf(&body,
			"this needs the token that `blkin page` prints, as Authorization: Bearer TOKEN\n");
	answer(request, 403, page ? HTML : PLAIN, &body);
	buffer_free(&body);
}

static const struct question *find_question(const char *path)
{
	for (size_t i = 0; path && i < G_N_ELEMENTS(questions); i++)
		if (!strcmp(path, questions[i].path))
			return &questions[i];
	return NULL;
}

bool pageserve(struct evhttp_request *request, const struct status_source *source, const struct pagekey *key,
	bool allowed)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(request);
	const char *query = uri ? evhttp_uri_get_query(uri) : NULL;
	const struct question *question = find_question(uri ? evhttp_uri_get_path(uri) : NULL);

	if (!question || (!allowed && source->config->page == CONFIG_PAGE_OFF))
		return false;
	if (!question->write && source->config->page == CONFIG_PAGE_TOKEN && brings_token(query, key))
		let_in(request, key);
	else if (!allowed)
		deny(request, !strcmp(question->type, HTML));
	else if (!question->write)
		answer_page(request, source, query);
	else
		answer_question(request, question, source, query);
	return true;
}

void pageserve_address(char *text, size_t size, const struct config *config, const char *token)
{
	struct address address;
	char host[ADDRESS_TEXT];

	*text = '\0';
	if (config->page == CONFIG_PAGE_OFF || !*config->http || !address_parse(config->http, &address))
		return;
	if (address_is_any(&address))
		g_strlcpy(address.host, "localhost", sizeof(address.host));
	address_print(&address, host);
	if (config->page != CONFIG_PAGE_TOKEN)
		token = "";
	snprintf(text, size, "http://%s/%s%s", host, *token ? "?token=" : "", token);
}
