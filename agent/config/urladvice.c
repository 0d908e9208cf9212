/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/urladvice.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "config/config.h"
#include "config/explain.h"

#define PART_MAX 64 /* characters of a part that are repeated */

struct url {
	char scheme[16];          /* in lowercase */
	char host[PART_MAX + 16]; /* with the port */
	char path[PART_MAX + 1];  /* "" for none */
	bool tls;
};

const char *url_usual_port(const struct config_key *key, int type)
{
	if (!strcmp(key->name, "brokers"))
		return "9092";
	return type == CONFIG_OUTPUT_HTTP ? "9411" : type == CONFIG_OUTPUT_OTLP ? "4318" : "9410";
}

static bool is_http(const struct url *url)
{
	return !strcmp(url->scheme, "http") || !strcmp(url->scheme, "https");
}

static bool is_grpc(const struct url *url)
{
	return g_str_has_prefix(url->scheme, "grpc") || !strcmp(url->scheme, "otlp");
}

/* The port that is meant where a URL names none. */
static const char *port_of(const struct url *url, const struct config_key *key, int type)
{
	if (!strcmp(key->name, "server") && is_http(url))
		return url->tls ? "443" : "80";
	return !strcmp(url->scheme, "kafka") ? "9092" : url_usual_port(key, type);
}

/* The first one of a list. */
static void split(struct url *url, const struct config_key *key, const char *value, int type)
{
	static const char *const secure[] = {"https", "ssl", "tls", "sasl_ssl", "grpcs"};
	const char *host = strstr(value, "://") + strlen("://"), *path, *at, *bracket, *colon;
	g_autofree char *scheme = g_ascii_strdown(value, host - strlen("://") - value);

	g_strlcpy(url->scheme, scheme, sizeof(url->scheme));
	for (size_t i = 0; i < G_N_ELEMENTS(secure); i++)
		url->tls |= !strcmp(url->scheme, secure[i]);
	path = host + strcspn(host, "/, ");
	at = memchr(host, '@', (size_t)(path - host));
	host = at ? at + 1 : host;
	bracket = memchr(host, ']', (size_t)(path - host));
	colon = memchr(bracket ? bracket : host, ':', (size_t)(path - (bracket ? bracket : host)));
	if (is_grpc(url) && colon) /* which is another one */
		snprintf(url->host, sizeof(url->host), "%.*s:4318", (int)MIN(colon - host, PART_MAX), host);
	else
		snprintf(url->host, sizeof(url->host), "%.*s%s%s", (int)MIN(path - host, PART_MAX), host,
			colon ? "" : ":",
			colon          ? ""
			: is_grpc(url) ? "4318"
				       : port_of(url, key, type));
	if (strcspn(path, ", ") > 1)
		g_strlcpy(url->path, path, MIN(strcspn(path, ", ") + 1, sizeof(url->path)));
}

/* Over HTTP; a type that the section has stays. */
static void advise_http(const struct url *url, const char *value, int type, char *error, size_t size)
{
	const char *meant = strstr(value, "/v1/traces") ? "otlp" : "http";
	bool posts = type != CONFIG_OUTPUT_SCRIBE, chosen = type != EXPLAIN_NO_TYPE;

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
	const char *tls;

	split(&url, key, value, type);
	tls = url.tls ? " and `tls = yes`" : "";
	if (!strcmp(key->name, "brokers"))
		snprintf(error, size, "is a URL: write `brokers = %s`%s", url.host, tls);
	else if (!strcmp(url.scheme, "kafka"))
		snprintf(error, size, "is a URL: write `type = kafka`, `brokers = %s`%s", url.host, tls);
	else if (is_grpc(&url))
		snprintf(error, size,
			"is a URL, and OTLP over gRPC is not supported: use the port for HTTP, usually 4318: "
			"write %s`server = %s`%s",
			type == CONFIG_OUTPUT_OTLP ? "" : "`type = otlp`, ", url.host, tls);
	else if (is_http(&url))
		advise_http(&url, value, type, error, size);
	else
		snprintf(error, size, "is a URL: write `server = %s`%s", url.host, tls);
}
