/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/proxy.h"

#include <string.h>

#include <glib.h>

#include "base/proxyurl.h"
#include "base/secret.h"

struct proxy {
	struct proxyurl url;
	char *password_file;
};

struct proxy *proxy_create(const char *url, const char *password_file)
{
	struct proxy *proxy;

	if (!url || !*url)
		return NULL;
	proxy = g_new0(struct proxy, 1);
	if (proxyurl_parse(url, &proxy->url))
		g_error("the proxy is not valid");
	proxy->password_file = g_strdup(password_file ? password_file : "");
	return proxy;
}

void proxy_free(struct proxy *proxy)
{
	if (!proxy)
		return;
	explicit_bzero(&proxy->url, sizeof(proxy->url));
	g_free(proxy->password_file);
	g_free(proxy);
}

const struct address *proxy_address(const struct proxy *proxy)
{
	return &proxy->url.address;
}

bool proxy_put_login(const struct proxy *proxy, struct buffer *out, char *why, size_t size)
{
	char login[sizeof(proxy->url.user) + SECRET_MAX], secret[SECRET_MAX];
	char *encoded;
	int used;

	if (!*proxy->url.user)
		return true;
	g_strlcpy(secret, proxy->url.password, sizeof(secret));
	if (*proxy->password_file && !secret_read(proxy->password_file, secret, why, size))
		return false;
	used = g_snprintf(login, sizeof(login), "%s:%s", proxy->url.user, secret);
	encoded = g_base64_encode((const guchar *)login, (gsize)used);
	buffer_printf(out, "Proxy-Authorization: Basic %s\r\n", encoded);
	explicit_bzero(secret, sizeof(secret));
	explicit_bzero(login, sizeof(login));
	explicit_bzero(encoded, strlen(encoded));
	g_free(encoded);
	return true;
}
