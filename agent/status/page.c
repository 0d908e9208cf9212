/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/page.h"

#include <unistd.h>

#include <glib.h>
#include <pagefiles.h> /* which the build makes of page/ */

#include "status/html.h"
#include "status/pagerows.h"
#include "status/pagestate.h"
#include "status/waterfall.h"

static char *hash_of(const char *text)
{
	GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 digest[32];
	gsize size = sizeof(digest);

	g_checksum_update(checksum, (const guchar *)text, -1);
	g_checksum_get_digest(checksum, digest, &size);
	g_checksum_free(checksum);
	return g_base64_encode(digest, sizeof(digest));
}

const char *page_policy(void)
{
	static char policy[400];

	if (!*policy) {
		g_autofree char *style = hash_of(page_css), *script = hash_of(page_js);

		g_snprintf(policy, sizeof(policy),
			"default-src 'none'; style-src 'sha256-%s'; script-src 'sha256-%s'; connect-src "
			"'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
			style, script);
	}
	return policy;
}

static void begin(struct buffer *out, const char *title)
{
	html_put(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>");
	html_text(out, title);
	html_put(out, "</title><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
		      "<meta name=\"color-scheme\" content=\"light dark\">"
		      "<link rel=\"icon\" href=\"data:,\"><style>");
	html_put(out, page_css);
	html_put(out, "</style>");
}

/* What is read out when it changes. Returns whether spans are above their thresholds. */
static bool put_news(struct buffer *out, struct monitor *monitor)
{
	unsigned above = 0, limited = 0;
	uint32_t count = monitor_count(monitor);

	for (uint32_t i = 0; i < count; i++) {
		const struct series *series =
			monitor_limits(monitor, i) ? monitor_series(monitor, WINDOW_1, i) : NULL;
		struct figures figures;

		if (!series)
			continue;
		figures_of_series(&figures, series, 0, 0);
		limited++;
		above += monitor_exceeded(monitor, i, &figures) != 0;
	}
	buffer_printf(out, "<p id=\"news\" role=\"status\" class=\"%s\">",
		above     ? "bad"
		: limited ? "good"
			  : "none");
	if (!limited)
		html_put(out, "No spans of the last minute have a threshold.");
	else if (!above)
		html_put(out, "In the last minute, all spans with a threshold are below it.");
	else
		buffer_printf(out,
			"<span class=\"mark\" aria-hidden=\"true\">▲</span> In the last minute, %u of %u %s "
			"with a threshold %s above it.",
			above, limited, limited == 1 ? "name" : "names", above == 1 ? "is" : "are");
	html_put(out, "</p>");
	return above > 0;
}

void page_write(struct buffer *out, const struct status *status, const struct view *view)
{
	char host[256] = "";
	g_autofree char *title = NULL;
	bool above;

	gethostname(host, sizeof(host) - 1);
	title = g_strdup_printf("%s: spans", host);
	begin(out, title);
	html_put(out, "<noscript><meta http-equiv=\"refresh\" content=\"10\"></noscript></head><body>"
		      "<header><h1>");
	html_text(out, host);
	html_put(out, "</h1><p>blkin-agent " BLKIN_VERSION
		      "</p><p id=\"clock\"></p><p id=\"stale\" role=\"alert\"></p>"
		      "<button id=\"pause\" type=\"button\" aria-pressed=\"false\" hidden>Pause</button>"
		      "</header><main id=\"main\">");
	above = put_news(out, status->monitor);
	pagestate_write(out, status, above);
	pagerows_write(out, view, status->monitor, status->config);
	html_put(out, "</main><script>");
	html_put(out, page_js);
	html_put(out, "</script></body></html>\n");
}

void page_write_trace(struct buffer *out, const struct found_trace *found, const struct config *config)
{
	char host[256] = "";
	g_autofree char *title = NULL;

	gethostname(host, sizeof(host) - 1);
	title = g_strdup_printf("%s: trace %s", host, found->id);
	begin(out, title);
	html_put(out, "</head><body><header><h1>");
	html_text(out, host);
	html_put(out, "</h1><p>blkin-agent " BLKIN_VERSION "</p></header><main id=\"main\">");
	waterfall_write(out, found, config);
	html_put(out, "</main></body></html>\n");
}

void page_write_denied(struct buffer *out)
{
	begin(out, "blkin-agent");
	html_put(out, "</head><body><main id=\"main\" class=\"denied\"><h1>blkin-agent</h1>"
		      "<p>The names of programs and spans are not for everybody on this node.</p>"
		      "<p>Open the address that <code>blkin page</code> prints: root and the members of "
		      "group <code>blkin</code> can run it. It lets this browser in until the token "
		      "changes.</p>"
		      "<p>For everybody: <a href=\"/metrics\">/metrics</a> for Prometheus, "
		      "<a href=\"/healthz\">/healthz</a>, <a href=\"/readyz\">/readyz</a>.</p>"
		      "</main></body></html>\n");
}
