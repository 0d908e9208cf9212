/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/proxyurl.h"

#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/sanitize.h"

static const char *skip_scheme(const char *text)
{
	return g_ascii_strncasecmp(text, "http://", 7) ? text : text + 7;
}

/* Decodes a part of a URL, in which %XX may stand for a character. */
static bool decode(const char *start, const char *end, char *out, size_t size)
{
	g_autofree char *text = g_uri_unescape_segment(start, end, NULL);

	if (!text || strlen(text) >= size || words_have_control(text))
		return false;
	memcpy(out, text, strlen(text) + 1);
	return true;
}

/* RFC 7617: a user has no colon. */
static bool take_user(const char *start, const char *end, struct proxyurl *url)
{
	const char *colon = memchr(start, ':', (size_t)(end - start));

	return decode(start, colon ? colon : end, url->user, sizeof(url->user)) && *url->user &&
	       !strchr(url->user, ':') &&
	       (!colon || decode(colon + 1, end, url->password, sizeof(url->password)));
}

const char *proxyurl_parse(const char *text, struct proxyurl *url)
{
	const char *rest = skip_scheme(text), *at = strrchr(rest, '@'), *host = at ? at + 1 : rest;
	size_t size = strlen(host);
	g_autofree char *place = g_strndup(host, size - (size > 0 && host[size - 1] == '/'));

	memset(url, 0, sizeof(*url));
	if (g_str_has_prefix(text, "https://"))
		return "asks for TLS to the proxy itself, which the agent cannot do: it goes to "
		       "http://HOST:PORT, "
		       "and TLS to the server goes through the proxy";
	if (strstr(rest, "://"))
		return "is no HTTP proxy: it must be http://HOST:PORT";
	if (!address_parse(place, &url->address))
		return "is not valid: it must be HOST:PORT, or http://USER@HOST:PORT";
	if (at && !take_user(rest, at, url))
		return "is not valid: before the @ there must be a user, or USER:PASSWORD, with %XX for "
		       "special "
		       "characters";
	return NULL;
}

const char *proxyurl_way(const char *text, char way[PROXYURL_WAY])
{
	struct proxyurl url;
	char place[ADDRESS_TEXT];

	*way = '\0';
	if (!text || !*text || proxyurl_parse(text, &url))
		return way;
	address_print(&url.address, place);
	snprintf(way, PROXYURL_WAY, " through the proxy %s", place);
	return way;
}

char *proxyurl_conceal(const char *text)
{
	const char *scheme = strstr(text, "://"), *rest = scheme ? scheme + 3 : text;
	const char *at = strrchr(rest, '@'), *colon = at ? memchr(rest, ':', (size_t)(at - rest)) : NULL;

	return colon ? g_strdup_printf("%.*s:***%s", (int)(colon - text), text, at) : g_strdup(text);
}
