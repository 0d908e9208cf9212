/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin collect`: receives spans over Scribe and prints them. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <event2/event.h>
#include <glib.h>
#include <sys/ioctl.h>
#include <sysexits.h>

#include "base/buffer.h"
#include "base/log.h"
#include "commands.h"
#include "options.h"
#include "scribe/receiver.h"
#include "spans/span2.h"
#include "traces/pending_traces.h"
#include "traces/trace_print.h"

#define DEFAULT_ADDRESS "127.0.0.1:9410"

static const char help[] =
	"Usage: blkin collect [OPTION]...\n"
	"\n"
	"Receive spans over Scribe, as a Zipkin collector does, and print them. Each trace is\n"
	"printed as a tree, one second after its last span has arrived. Stop it with Ctrl-C.\n"
	"\n"
	"  --listen IP:PORT   listen on this address (" DEFAULT_ADDRESS "); port 0 picks a free port\n"
	"  --json             print one span per line, in Zipkin's version 2 JSON\n"
	"  --category NAME    the category of Scribe messages that are spans (zipkin)\n"
	"  --count N          stop after N spans\n"
	"  --timeout SECONDS  stop after this time; exit with 1 if the spans did not arrive\n";

/* Traces held until they are quiet. */
static const struct pending_limits limits = {.quiet = 1000000, .traces = 10000, .bytes = 64 * 1024 * 1024};

struct options {
	struct receiver_options receiver;
	bool json;
	uint64_t count; /* 0: no end */
	double timeout; /* s; 0: none */
};

struct collect {
	struct options options;
	struct event_base *base;
	struct receiver *receiver;
	struct pending_traces *traces; /* NULL with --json */
	struct event *quiet;
	struct event *timeout;
	struct event *interrupted;
	struct event *terminated;
	struct buffer out; /* text to be written at once */
	uint64_t spans;    /* received */
	int code;          /* to exit with */
};

/* Writes out @collect->out. Returns false if standard output does not take it, having ended the loop. */
static bool write_out(struct collect *collect)
{
	struct pollfd ready = {.fd = STDOUT_FILENO, .events = POLLOUT};
	size_t at = 0;
	ssize_t size;

	while (at < collect->out.size) {
		size = write(STDOUT_FILENO, collect->out.data + at, collect->out.size - at);
		if (size >= 0) {
			at += (size_t)size;
		} else if (errno == EAGAIN) {
			poll(&ready, 1, -1);
		} else if (errno != EINTR) {
			break;
		}
	}
	/* EPIPE: the reader, `head` perhaps, has seen enough. */
	if (at < collect->out.size && errno != EPIPE) {
		log_error("cannot write to standard output: %s", strerror(errno));
		collect->code = EXIT_FAILURE;
	}
	if (at < collect->out.size)
		event_base_loopbreak(collect->base);
	collect->out.size = at < collect->out.size ? collect->out.size : 0;
	return collect->out.size == 0;
}

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
	struct collect *collect = data;
	struct trace_style style;

	find_style(&style);
	trace_print(&collect->out, spans, &style);
	buffer_put(&collect->out, "\n", 1);
}

static void on_drained(void *data)
{
	struct collect *collect = data;

	event_base_loopbreak(collect->base);
}

/* Shows what is held, lets the last answers go out, and ends. */
static void end(struct collect *collect)
{
	if (collect->traces)
		pending_traces_show_all(collect->traces);
	write_out(collect);
	receiver_drain(collect->receiver, on_drained, collect);
}

static void arm_quiet(struct collect *collect, int64_t us)
{
	const struct timeval wait = {.tv_sec = us / 1000000, .tv_usec = us % 1000000};

	if (us >= 0)
		event_add(collect->quiet, &wait);
}

static void on_quiet(evutil_socket_t fd, short what, void *data)
{
	struct collect *collect = data;

	(void)fd;
	(void)what;
	arm_quiet(collect, pending_traces_show_quiet(collect->traces, g_get_monotonic_time()));
	write_out(collect);
}

static void hold(struct collect *collect, GPtrArray *spans)
{
	int64_t now = g_get_monotonic_time();

	while (spans->len)
		pending_traces_add(collect->traces, g_ptr_array_steal_index(spans, 0), now);
	if (!event_pending(collect->quiet, EV_TIMEOUT, NULL))
		arm_quiet(collect, limits.quiet);
}

static bool take(void *data, GPtrArray *spans)
{
	struct collect *collect = data;

	collect->spans += spans->len;
	if (collect->traces) {
		hold(collect, spans);
	} else {
		for (guint i = 0; i < spans->len; i++) {
			span2_put_json(g_ptr_array_index(spans, i), &collect->out);
			buffer_put(&collect->out, "\n", 1);
		}
	}
	if (!write_out(collect))
		return false;
	if (collect->options.count && collect->spans >= collect->options.count)
		end(collect);
	return collect->out.size == 0;
}

static void on_timeout(evutil_socket_t fd, short what, void *data)
{
	struct collect *collect = data;
	uint64_t want = collect->options.count ? collect->options.count : 1;

	(void)fd;
	(void)what;
	if (collect->spans < want) {
		log_error("%" G_GUINT64_FORMAT " of %" G_GUINT64_FORMAT " spans arrived within %g s",
			collect->spans, want, collect->options.timeout);
		collect->code = EXIT_FAILURE;
	}
	end(collect);
}

static void on_signal(evutil_socket_t fd, short what, void *data)
{
	(void)fd;
	(void)what;
	end(data);
}

static void start_timeout(struct collect *collect)
{
	double seconds = collect->options.timeout;
	const struct timeval wait = {
		.tv_sec = (time_t)seconds,
		.tv_usec = (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6),
	};

	if (seconds > 0)
		event_add(collect->timeout, &wait);
}

static int run(struct collect *collect)
{
	struct receiver_options *options = &collect->options.receiver;

	options->take = take;
	options->data = collect;
	collect->receiver = receiver_create(collect->base, options);
	if (!collect->receiver)
		return EXIT_FAILURE;
	evsignal_add(collect->interrupted, NULL);
	evsignal_add(collect->terminated, NULL);
	start_timeout(collect);
	/* Scripts read the port from this line. */
	fprintf(stderr, "blkin collect: listening on %s\n", receiver_address(collect->receiver));
	event_base_dispatch(collect->base);
	receiver_destroy(collect->receiver);
	return collect->code;
}

static int collect_spans(const struct options *options)
{
	struct collect collect = {.options = *options};
	int code;

	/* A peer that goes away makes a write fail; it must not end the process. */
	signal(SIGPIPE, SIG_IGN);
	collect.base = event_base_new();
	collect.quiet = evtimer_new(collect.base, on_quiet, &collect);
	collect.timeout = evtimer_new(collect.base, on_timeout, &collect);
	collect.interrupted = evsignal_new(collect.base, SIGINT, on_signal, &collect);
	collect.terminated = evsignal_new(collect.base, SIGTERM, on_signal, &collect);
	if (!options->json)
		collect.traces = pending_traces_create(&limits, show_trace, &collect);
	code = run(&collect);
	pending_traces_destroy(collect.traces);
	event_free(collect.quiet);
	event_free(collect.timeout);
	event_free(collect.interrupted);
	event_free(collect.terminated);
	event_base_free(collect.base);
	buffer_free(&collect.out);
	return code;
}

/* Reads a number above 0 and up to @max. */
static bool read_number(const char *option, const char *text, double max, double *number)
{
	char *end;

	*number = g_ascii_strtod(text, &end);
	if (end != text && !*end && *number > 0 && *number <= max)
		return true;
	fprintf(stderr, "blkin collect: --%s takes a number above 0 and up to %.0f, not %s\n", option, max,
		text);
	return false;
}

static bool read_address(const char *text, struct options *options)
{
	if (receiver_parse_address(text, &options->receiver.address, &options->receiver.address_length))
		return true;
	fprintf(stderr,
		"blkin collect: --listen takes IP:PORT, such as 127.0.0.1:9410 or [::1]:9410, not %s\n",
		text);
	return false;
}

static int read_options(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{"listen", required_argument, NULL, 'l'},
		{"json", no_argument, NULL, 'j'},
		{"category", required_argument, NULL, 'c'},
		{"count", required_argument, NULL, 'n'},
		{"timeout", required_argument, NULL, 't'},
		{0},
	};
	double number;
	int option;

	while ((option = options_next(argc, argv, known, help)) >= 0) {
		switch (option) {
		case 'l':
			if (!read_address(optarg, options))
				return OPTIONS_WRONG;
			break;
		case 'j':
			options->json = true;
			break;
		case 'c':
			options->receiver.category = optarg;
			break;
		case 'n':
			if (!read_number("count", optarg, 1e15, &number))
				return OPTIONS_WRONG;
			if (number != (double)(uint64_t)number) {
				fprintf(stderr, "blkin collect: --count takes a whole number, not %s\n",
					optarg);
				return OPTIONS_WRONG;
			}
			options->count = (uint64_t)number;
			break;
		case 't':
			if (!read_number("timeout", optarg, 1e9, &options->timeout))
				return OPTIONS_WRONG;
			break;
		}
	}
	return option == OPTIONS_END ? options_no_arguments(argc, argv) : option;
}

int command_collect(int argc, char **argv)
{
	struct options options = {.receiver.category = "zipkin"};

	log_init("blkin collect");
	read_address(DEFAULT_ADDRESS, &options);
	switch (read_options(argc, argv, &options)) {
	case OPTIONS_END:
		return collect_spans(&options);
	case OPTIONS_HELP:
		return EX_OK;
	default:
		return EX_USAGE;
	}
}
