/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/urladvice.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "config/outputtype.h"

#define PART_MAX 64 /* characters of a part that are repeated */

struct url {
	char scheme[16];          /* in lowercase */
	char host[PART_MAX + 16]; /* with the port */
	char path[PART_MAX + 1];  /* "" for none */
	bool tls;
	const struct output_type *means; /* by its scheme; NULL: that says nothing, or the key says it */
};

const char *url_usual_port(const struct config_key *key, int type)
{
	int i = 0;

	if (type != OUTPUT_NO_TYPE && !g_strcmp0(output_types[type]->place, key->name))
		return output_types[type]->port;
	/* the first that delivers there */
	while (i + 1 < CONFIG_OUTPUT_TYPES && g_strcmp0(output_types[i]->place, key->name) != 0)
		i++;
	return output_types[i]->port;
}

static bool is_http(const struct url *url)
{
	return !strcmp(url->scheme, "http") || !strcmp(url->scheme, "https");
}

/* Who writes `server` may mean another type than the section has. */
static const struct output_type *meant_by(const struct url *url, const struct config_key *key)
{
	for (int i = 0; i < CONFIG_OUTPUT_TYPES && !strcmp(key->name, "server"); i++)
		if (output_list_has(output_types[i]->schemes, url->scheme))
			return output_types[i];
	return NULL;
}

/* The port that is meant where a URL names none. */
static const char *port_of(const struct url *url, const struct config_key *key, int type)
{
	if (url->means && is_http(url))
		return url->tls ? "443" : "80";
	return url->means ? url->means->port : url_usual_port(key, type);
}

/* The first one of a list. */
static void split(struct url *url, const struct config_key *key, const char *value, int type)
{
	static const char *const secure[] = {"https", "ssl", "tls", "sasl_ssl", "grpcs"};
	const char *host = strstr(value, "://") + strlen("://"), *path, *at, *bracket, *colon;
	g_autofree char *scheme = g_ascii_strdown(value, host - strlen("://") - value);

	g_strlcpy(url->scheme, scheme, sizeof(url->scheme));
	url->means = meant_by(url, key);
	for (size_t i = 0; i < G_N_ELEMENTS(secure); i++)
		url->tls |= !strcmp(url->scheme, secure[i]);
	path = host + strcspn(host, "/, ");
	at = memchr(host, '@', (size_t)(path - host));
	host = at ? at + 1 : host;
	bracket = memchr(host, ']', (size_t)(path - host));
	colon = memchr(bracket ? bracket : host, ':', (size_t)(path - (bracket ? bracket : host)));
	if (colon && url->means && url->means->scheme_note) /* its port is another one */
		snprintf(url->host, sizeof(url->host), "%.*s:%s", (int)MIN(colon - host, PART_MAX), host,
			url->means->port);
	else
		snprintf(url->host, sizeof(url->host), "%.*s%s%s", (int)MIN(path - host, PART_MAX), host,
			colon ? "" : ":", colon ? "" : port_of(url, key, type));
	if (strcspn(path, ", ") > 1)
		g_strlcpy(url->path, path, MIN(strcspn(path, ", ") + 1, sizeof(url->path)));
}

/* Over HTTP there are several types, of which the path tells some. */
static const char *meant_by_path(const struct url *url, const char *value)
{
	for (int i = 0; i < CONFIG_OUTPUT_TYPES; i++)
		if (output_types[i]->url_path && strstr(value, output_types[i]->url_path))
			return output_types[i]->name;
	return url->means->name;
}

/* Over HTTP; a type that the section has stays. */
static void advise_http(const struct url *url, const char *value, int type, char *error, size_t size)
{
	const struct output_type *chosen = type == OUTPUT_NO_TYPE ? NULL : output_types[type];
	const char *meant = meant_by_path(url, value);
	bool posts = !chosen || !chosen->takes || chosen->keys & KEYS_POSTS;

	snprintf(error, size, "is a URL: write %s%s%s`server = %s`%s%s%s%s%s%s%s",
		chosen ? "" : "`type = ", chosen ? "" : meant, chosen ? "" : "`, ", url->host,
		posts && *url->path ? ", `path = " : "", posts ? url->path : "",
		posts && *url->path ? "`" : "", url->tls ? " and `tls = yes`" : "",
		posts ? "" : "; a collector that takes HTTP has `type = ", posts ? "" : meant,
		posts ? "" : "`");
}

void url_advise(const struct config_key *key, const char *value, int type, char *error, size_t size)
{
	struct url url = {.tls = false};
	const struct output_type *means;
	const char *tls;

	split(&url, key, value, type);
	tls = url.tls ? " and `tls = yes`" : "";
	means = url.means;
	if (means && is_http(&url))
		advise_http(&url, value, type, error, size);
	else if (means && (type == OUTPUT_NO_TYPE || output_types[type] != means))
		snprintf(error, size, "is a URL%s: write `type = %s`, `%s = %s`%s",
			means->scheme_note ? means->scheme_note : "", means->name, means->place, url.host,
			tls);
	else
		snprintf(error, size, "is a URL%s: write `%s = %s`%s",
			means && means->scheme_note ? means->scheme_note : "", key->name, url.host, tls);
}
