/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin collect`: receives spans over Scribe and HTTP, and prints them. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include <event2/event.h>
#include <glib.h>
#include <sysexits.h>

#include "base/log.h"
#include "commands.h"
#include "look/folding.h"
#include "options.h"
#include "print_spans.h"
#include "scribe/receiver.h"

#define DEFAULT_ADDRESS "127.0.0.1:9410"

static const char help[] =
	"Usage: blkin collect [OPTION]...\n"
	"\n"
	"Receive spans over Scribe, as a Zipkin collector does, or over HTTP (OTLP, or Zipkin's) on\n"
	"the same port, and print them. Each trace is printed as a tree, one second after its last\n"
	"span has arrived. Stop it with Ctrl-C.\n"
	"\n"
	"  --listen IP:PORT     listen on this address (" DEFAULT_ADDRESS "); port 0 picks a free port\n"
	"  --json               print one span per line, in Zipkin's version 2 JSON\n"
	"  --category NAME      the category of Scribe messages that are spans (zipkin)\n"
	"  --count N            stop after N spans\n"
	"  --timeout SECONDS    stop after this time; exit with 1 if the spans did not arrive\n" FOLDING_HELP
		FOLDING_DURATION_HELP;

struct options {
	struct receiver_options receiver;
	struct span_printer_options printer;
	uint64_t count; /* 0: no end */
	double timeout; /* s; 0: none */
};

struct collect {
	struct options options;
	struct event_base *base;
	struct receiver *receiver;
	struct span_printer *printer;
	struct event *quiet;
	struct event *timeout;
	struct event *interrupted;
	struct event *terminated;
	bool broken;    /* standard output takes no more */
	uint64_t spans; /* received */
	int code;       /* to exit with */
};

/* Returns false if standard output does not take what was shown, having ended the loop. */
static bool write_out(struct collect *collect)
{
	bool failed;

	if (!collect->broken && !span_printer_write(collect->printer, &failed)) {
		collect->broken = true;
		if (failed)
			collect->code = EXIT_FAILURE;
		event_base_loopbreak(collect->base);
	}
	return !collect->broken;
}

static void on_drained(void *data)
{
	struct collect *collect = data;

	event_base_loopbreak(collect->base);
}

/* Shows what is held, lets the last answers go out, and ends. */
static void end(struct collect *collect)
{
	span_printer_show_all(collect->printer);
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
	arm_quiet(collect, span_printer_show_quiet(collect->printer));
	write_out(collect);
}

static bool take(void *data, GPtrArray *spans)
{
	struct collect *collect = data;

	collect->spans += spans->len;
	span_printer_add(collect->printer, spans);
	if (!collect->options.printer.json && !event_pending(collect->quiet, EV_TIMEOUT, NULL))
		arm_quiet(collect, PRINT_SPANS_QUIET_US);
	if (!write_out(collect))
		return false;
	if (collect->options.count && collect->spans >= collect->options.count)
		end(collect);
	return !collect->broken;
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
	collect.printer = span_printer_create(&options->printer);
	code = run(&collect);
	span_printer_destroy(collect.printer);
	event_free(collect.quiet);
	event_free(collect.timeout);
	event_free(collect.interrupted);
	event_free(collect.terminated);
	event_base_free(collect.base);
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
		FOLDING_OPTIONS,
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
			options->printer.json = true;
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
		default:
			if (!folding_option(&options->printer.folding, option))
				return OPTIONS_WRONG;
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
