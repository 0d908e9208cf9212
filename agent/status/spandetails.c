/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/spandetails.h"

#include <inttypes.h>
#include <string.h>

#include "status/html.h"

/* Bytes of an annotation, or of a tag's value. */
#define VALUE_SHOWN 1000

static void put_endpoint(struct buffer *out, const char *what, const struct span2_endpoint *endpoint)
{
	if (!endpoint)
		return;
	buffer_printf(out, "<tr><th scope=\"row\">%s</th><td>", what);
	if (endpoint->service)
		html_short_name(out, endpoint->service, "");
	if (*endpoint->ipv4 || *endpoint->ipv6) {
		html_put(out, endpoint->service ? " " : "");
		html_text(out, *endpoint->ipv4 ? endpoint->ipv4 : endpoint->ipv6);
	}
	if (endpoint->port)
		buffer_printf(out, " port %u", endpoint->port);
	html_put(out, "</td></tr>");
}

static void put_rest(struct buffer *out, guint count)
{
	if (count <= SPANDETAILS_LINES)
		return;
	html_put(out, "<tr><td colspan=\"2\">and ");
	html_count(out, count - SPANDETAILS_LINES);
	html_put(out, " more</td></tr>");
}

static void put_annotations(struct buffer *out, const struct span2 *span, int64_t start)
{
	for (guint i = 0; i < MIN(span->annotations->len, SPANDETAILS_LINES); i++) {
		const struct span2_annotation *annotation =
			&g_array_index(span->annotations, struct span2_annotation, i);

		html_put(out, "<tr><th scope=\"row\">+");
		/* times come from programs and may be anything: as numbers that do not overflow */
		html_time(out, (double)annotation->timestamp - (double)start);
		html_put(out, "</th><td>");
		html_shown(out, annotation->value, strlen(annotation->value), VALUE_SHOWN);
		html_put(out, "</td></tr>");
	}
	put_rest(out, span->annotations->len);
}

static void put_tags(struct buffer *out, const struct span2 *span)
{
	for (guint i = 0; i < MIN(span->tags->len, SPANDETAILS_LINES); i++) {
		const struct span2_tag *tag = &g_array_index(span->tags, struct span2_tag, i);

		buffer_printf(out, "<tr%s><th scope=\"row\">",
			strcmp(tag->key, "error") == 0 ? " class=\"bad\"" : "");
		html_short_name(out, tag->key, "");
		html_put(out, "</th><td>");
		html_shown(out, tag->value, tag->value_size, VALUE_SHOWN);
		html_put(out, "</td></tr>");
	}
	put_rest(out, span->tags->len);
}

void spandetails_write(struct buffer *out, const struct span2 *span, int64_t start)
{
	buffer_printf(out,
		"<table class=\"facts\"><tr><th scope=\"row\">id</th><td><code>%016" PRIx64
		"</code></td></tr>",
		span->id);
	put_endpoint(out, "at", span->local);
	put_endpoint(out, "peer", span->remote);
	put_annotations(out, span, start);
	put_tags(out, span);
	html_put(out, "</table>");
}
