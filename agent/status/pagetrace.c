/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/pagetrace.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/human.h"
#include "status/html.h"
#include "status/tracefind.h"
#include "supervise/flightfolder.h"

#define PLACE "{trace}"

static char *trace_of(const struct exemplar *exemplar)
{
	return exemplar->trace_id_high ? g_strdup_printf("%016" PRIx64 "%016" PRIx64, exemplar->trace_id_high,
						 exemplar->trace_id)
				       : g_strdup_printf("%016" PRIx64, exemplar->trace_id);
}

char *pagetrace_address(const char *ui, const char *trace)
{
	g_auto(GStrv) parts = g_strsplit(ui, PLACE, -1);

	return g_strjoinv(trace, parts);
}

static void put_age(struct buffer *out, int64_t time)
{
	int64_t age = MAX(clock_wall() - time, NS_PER_SECOND);
	char text[HUMAN_MAX];

	buffer_printf(out, " <small>%s ago</small>", human_time(text, age - age % NS_PER_SECOND));
}

static void put_trace(struct buffer *out, const struct exemplar *exemplar, const struct config *config)
{
	g_autofree char *trace = trace_of(exemplar), *address = pagetrace_address(config->ui, trace);
	g_autofree char *answers = g_build_filename(config->state_directory, FLIGHT_FOLDER, NULL);

	html_put(out, "<li>");
	html_time(out, exemplar->duration ? (double)exemplar->duration / 1e3 : (double)NAN);
	buffer_printf(out, ": <a href=\"" TRACE_PATH "?id=%s\"><code>%s</code></a>", trace, trace);
	if (*address) {
		html_put(out, " <a rel=\"noreferrer\" href=\"");
		html_text(out, address);
		html_put(out, "\">all nodes</a>");
	}
	if (flight_folder_has(answers, exemplar->trace_id))
		html_put(out, ", with what the kernel did");
	put_age(out, exemplar->time);
	html_put(out, "</li>");
}

static void put_traces(struct buffer *out, const char *title, const struct exemplar *exemplars,
	unsigned count, const struct config *config)
{
	if (!count)
		return;
	buffer_printf(out, "<h3>%s</h3><ul class=\"traces\">", title);
	for (unsigned i = 0; i < count; i++)
		put_trace(out, &exemplars[i], config);
	html_put(out, "</ul>");
}

void pagetrace_write(
	struct buffer *out, const struct monitor *monitor, uint32_t number, const struct config *config)
{
	struct monitor_traces traces;

	monitor_traces(monitor, number, &traces);
	put_traces(out, "Late spans and their traces", traces.late, traces.late_count, config);
	put_traces(out, "The last one that failed", &traces.failed, traces.failed.time != 0, config);
}
