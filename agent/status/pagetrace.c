/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/pagetrace.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/human.h"
#include "status/html.h"

/* So many are listed. */
#define MOST 5
#define PLACE "{trace}"

static char *trace_of(const struct exemplar *exemplar)
{
	return exemplar->trace_id_high ? g_strdup_printf("%016" PRIx64 "%016" PRIx64, exemplar->trace_id_high,
						 exemplar->trace_id)
				       : g_strdup_printf("%016" PRIx64, exemplar->trace_id);
}

static void put_trace(struct buffer *out, const struct exemplar *exemplar, const char *ui)
{
	g_autofree char *trace = trace_of(exemplar);
	g_auto(GStrv) parts = g_strsplit(ui, PLACE, -1);
	g_autofree char *address = g_strjoinv(trace, parts);

	html_put(out, "<li>");
	html_time(out, (double)exemplar->duration / 1e3);
	html_put(out, ": ");
	if (*address) {
		html_put(out, "<a rel=\"noreferrer\" href=\"");
		html_text(out, address);
		html_put(out, "\">");
	}
	buffer_printf(out, "<code>%s</code>%s", trace, *address ? "</a>" : "");
	html_put(out, "</li>");
}

void pagetrace_write(struct buffer *out, const struct monitor *monitor, uint32_t number, const char *ui)
{
	struct exemplar exemplars[HISTOGRAM_OCTAVES];
	unsigned listed = 0;

	monitor_exemplars(monitor, number, exemplars);
	for (unsigned i = HISTOGRAM_OCTAVES; i-- > 0 && listed < MOST;) {
		if (!exemplars[i].time)
			continue;
		if (!listed++)
			html_put(out, "<h3>Late spans and their traces</h3><ul class=\"traces\">");
		put_trace(out, &exemplars[i], ui);
	}
	if (listed)
		html_put(out, "</ul>");
}
