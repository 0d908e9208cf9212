/* SPDX-License-Identifier: BSD-2-Clause */
#include "print_spans.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/log.h"
#include "spans/span2.h"
#include "traces/pending_traces.h"
#include "traces/trace_print.h"

/* Traces held until they are quiet. */
static const struct pending_limits limits = {
	.quiet = PRINT_SPANS_QUIET_US, .traces = 10000, .bytes = 64 * 1024 * 1024};

struct span_printer {
	struct pending_traces *traces; /* NULL: lines of JSON */
	struct buffer out;             /* text to be written at once */
};

static void find_style(struct trace_style *style)
{
	const char *no_colour = getenv("NO_COLOR");
	struct winsize window;

	memset(style, 0, sizeof(*style));
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

	find_style(&style);
	trace_print(&printer->out, spans, &style);
	buffer_put(&printer->out, "\n", 1);
}

struct span_printer *span_printer_create(bool json)
{
	struct span_printer *printer = g_new0(struct span_printer, 1);

	if (!json)
		printer->traces = pending_traces_create(&limits, show_trace, printer);
	return printer;
}

void span_printer_destroy(struct span_printer *printer)
{
	pending_traces_destroy(printer->traces);
	buffer_free(&printer->out);
	g_free(printer);
}

void span_printer_add(struct span_printer *printer, GPtrArray *spans)
{
	int64_t now = g_get_monotonic_time();

	for (guint i = 0; !printer->traces && i < spans->len; i++) {
		span2_put_json(g_ptr_array_index(spans, i), &printer->out);
		buffer_put(&printer->out, "\n", 1);
	}
	while (printer->traces && spans->len)
		pending_traces_add(printer->traces, g_ptr_array_steal_index(spans, 0), now);
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

bool span_printer_write(struct span_printer *printer, bool *failed)
{
	struct pollfd ready = {.fd = STDOUT_FILENO, .events = POLLOUT};
	size_t at = 0;
	ssize_t size;
	bool whole;

	while (at < printer->out.size) {
		size = write(STDOUT_FILENO, printer->out.data + at, printer->out.size - at);
		if (size >= 0) {
			at += (size_t)size;
		} else if (errno == EAGAIN) {
			poll(&ready, 1, -1);
		} else if (errno != EINTR) {
			break;
		}
	}
	whole = at == printer->out.size;
	/* EPIPE: the reader, `head` perhaps, has seen enough */
	*failed = !whole && errno != EPIPE;
	if (*failed)
		log_error("cannot write to standard output: %s", strerror(errno));
	printer->out.size = 0;
	return whole;
}
