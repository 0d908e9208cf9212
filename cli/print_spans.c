/* SPDX-License-Identifier: BSD-2-Clause */
#include "print_spans.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buffer.h"
#include "look/fit.h"
#include "look/line.h"
#include "status/trace/span2.h"
#include "traces/pending_traces.h"
#include "traces/trace_print.h"
#include "write_out.h"

/* Traces held until they are quiet. */
static const struct pending_limits limits = {
	.quiet = PRINT_SPANS_QUIET_US, .traces = 10000, .bytes = 64 * 1024 * 1024};

struct span_printer {
	struct span_printer_options options;
	struct pending_traces *traces; /* NULL: a line for each span */
	uint64_t shown;                /* traces */
	struct buffer out;             /* text to be written at once */
};

/* Anew for each trace, or piece of lines: the window may have another size. */
static void find_style(const struct span_printer *printer, struct trace_style *style)
{
	const char *no_colour = getenv("NO_COLOR");
	struct winsize window;

	*style = (struct trace_style){.folding = printer->options.folding};
	if (!isatty(STDOUT_FILENO))
		return;
	style->colour = !no_colour || !*no_colour;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0)
		style->width = window.ws_col;
}

static void show_trace(void *data, const GPtrArray *spans)
{
	struct span_printer *printer = data;
	struct trace_style style;

	if (printer->options.wants && !printer->options.wants(printer->options.data, spans))
		return;
	if (printer->options.most_traces && printer->shown == printer->options.most_traces)
		return;
	printer->shown++;
	find_style(printer, &style);
	trace_print(&printer->out, spans, &style);
	buffer_put(&printer->out, "\n", 1);
}

struct span_printer *span_printer_create(const struct span_printer_options *options)
{
	struct span_printer *printer = g_new0(struct span_printer, 1);

	printer->options = *options;
	if (!options->json && !options->lines)
		printer->traces = pending_traces_create(&limits, show_trace, printer);
	return printer;
}

void span_printer_destroy(struct span_printer *printer)
{
	pending_traces_destroy(printer->traces);
	buffer_free(&printer->out);
	g_free(printer);
}

static void add_lines(struct span_printer *printer, const GPtrArray *spans)
{
	struct trace_style style;

	find_style(printer, &style);
	if (style.folding.wide)
		style.width = 0;
	for (guint i = 0; i < spans->len; i++) {
		if (printer->options.json) {
			span2_put_json(g_ptr_array_index(spans, i), &printer->out);
			buffer_put(&printer->out, "\n", 1);
		} else {
			line_put(&printer->out, g_ptr_array_index(spans, i), &style);
		}
	}
}

void span_printer_add(struct span_printer *printer, GPtrArray *spans)
{
	int64_t now = g_get_monotonic_time();

	if (!printer->traces)
		add_lines(printer, spans);
	/* what is taken is no longer the array's; from the front one by one would move the rest each time */
	for (guint i = 0; printer->traces && i < spans->len; i++)
		pending_traces_add(printer->traces, g_steal_pointer(&g_ptr_array_index(spans, i)), now);
	g_ptr_array_set_size(spans, 0);
}

int64_t span_printer_show_quiet(struct span_printer *printer)
{
	return printer->traces ? pending_traces_show_quiet(printer->traces, g_get_monotonic_time()) : -1;
}

void span_printer_show_all(struct span_printer *printer)
{
	if (printer->traces)
		pending_traces_show_all(printer->traces);
}

uint64_t span_printer_traces(const struct span_printer *printer)
{
	return printer->shown;
}

bool span_printer_write(struct span_printer *printer, bool *failed)
{
	bool whole;

	if (!printer->options.json)
		fit_locale(&printer->out);
	whole = write_out(printer->out.data, printer->out.size, failed);
	printer->out.size = 0;
	return whole;
}
