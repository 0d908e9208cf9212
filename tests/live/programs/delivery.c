/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The delivery path alone, from the queue to the collector and the disk, for tests/live/test_failing.py: no
 * LTTng, so that a run takes a moment and every call in it can be made to fail once.
 *
 *     delivery SERVER DIRECTORY
 *
 * It takes its commands from standard input, a line each, and answers each with a line:
 *
 *     push FIRST LAST   queues spans whose bytes are "span N", 20 in a batch
 *     rest              waits until nothing is queued: all is delivered, on disk, or dropped
 *     empty             waits until nothing is on disk either
 *     end               delivers what it can in a second, stores the rest, and ends; answers with the
 * rows of the ledger and the account
 */
#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include <event2/event.h>
#include <event2/thread.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "core/ledger.h"
#include "output/spool/spooler.h"
#include "output/uplink/uplink.h"
#include "queue/fanout.h"

#define BATCH_SPANS 20

static struct event_base *base;
static struct event *pushed, *tick;
static struct account *account;
static struct queue *queue;
static struct fanout *fanout;
static struct uplink *uplink;
static struct spooler *spooler;

static void on_pushed(evutil_socket_t fd, short what, void *data)
{
	(void)fd;
	(void)what;
	(void)data;
	uplink_wake(uplink);
}

static void wake(void *data)
{
	(void)data;
	event_active(pushed, 0, 0);
}

static void on_tick(evutil_socket_t fd, short what, void *data)
{
	(void)fd;
	(void)what;
	(void)data;
}

static int64_t row(enum account_row which)
{
	struct account_rows rows;

	ledger_read_with(&(struct ledger){0}, &account, &rows, 1);
	return rows.row[which];
}

static int64_t made(void)
{
	struct ledger rows;

	ledger_read(&rows);
	return rows.row[SPANS_MADE];
}

static void create_queue(void)
{
	struct queue_limits limits = {.bytes = 4 << 20};
	struct outlet outlet = {.limits = {.kind = KIND_SPANS, .spans = BATCH_SPANS, .bytes = 64 * 1024}};

	account = account_open("default");
	queue = outlet.queue = queue_create(&limits, account, wake, NULL);
	fanout = fanout_create(outlets_create(&outlet, 1));
}

/* Everything but the uplink's loop, which the commands run. */
static void start(const char *server, const char *directory)
{
	struct spooler_options spool = {
		.directory = directory,
		.name = "default",
		.max_bytes = 64 << 20,
		.sync_full = true,
		.replay_share = 100,
		.replay_floor = 100000,
	};
	static struct output_config is = {
		.owners = 1,
		.section = "output",
		.category = "zipkin",
		.proxy = "",
		.proxy_secret_file = "",
		.window = 4,
		.timeout = 300 * NS_PER_MS,
		.retry_min = 5 * NS_PER_MS,
		.retry_max = 50 * NS_PER_MS,
		.return_interval = NS_PER_SECOND,
	};
	struct uplink_options options = {.is = &is, .name = "default"};
	struct timeval often = {0, 2000};

	signal(SIGPIPE, SIG_IGN);
	memory_serve_libevent();
	evthread_use_pthreads();
	base = event_base_new();
	pushed = event_new(base, -1, EV_PERSIST, on_pushed, NULL);
	tick = event_new(base, -1, EV_PERSIST, on_tick, NULL);
	event_add(tick, &often);
	create_queue();
	spooler = spooler_create(&spool, queue);
	is.server = (char *)server;
	uplink = uplink_create(base, queue, &options);
	if (!spooler || !uplink)
		exit(EXIT_FAILURE);
}

static void push(unsigned first, unsigned last)
{
	struct batch *items = batch_create(BATCH_ZIPKIN_SPANS, 0, 0);
	struct ledger change = {0};

	for (unsigned n = first; n < last; n++) {
		char span[32];
		int size = snprintf(span, sizeof(span), "span %u", n);

		change.row[SPANS_MADE]++;
		batch_add(items, (uint8_t *)span, (size_t)size, clock_wall());
	}
	fanout_hand(fanout, &change, &(struct items){.batch = items}, 0, true);
	batch_unref(items);
}

/* Runs the loop until these rows are 0; false if that takes @seconds. */
static bool run_until_none(enum account_row one, enum account_row other, int seconds)
{
	int64_t end = clock_monotonic() + seconds * NS_PER_SECOND;

	while ((row(one) || row(other)) && clock_monotonic() < end)
		event_base_loop(base, EVLOOP_ONCE);
	return !row(one) && !row(other);
}

static void end(void)
{
	static const struct {
		const char *name;
		enum account_row row;
	} rows[] = {{"recovered", SPANS_RECOVERED}, {"queued", SPANS_QUEUED}, {"spooled", SPANS_SPOOLED},
		{"sent", SPANS_SENT}, {"queue_full", SPANS_DROPPED_QUEUE_FULL},
		{"refused", SPANS_DROPPED_REFUSED}, {"spool_full", SPANS_DROPPED_SPOOL_FULL},
		{"corrupt", SPANS_DROPPED_SPOOL_CORRUPT}, {"discarded", SPANS_DROPPED_DISCARDED},
		{"shutdown", SPANS_DROPPED_SHUTDOWN}};

	queue_close(queue);
	run_until_none(SPANS_QUEUED, SPANS_QUEUED, 1);
	uplink_destroy(uplink);
	spooler_destroy(spooler);
	queue_end(queue);
	fanout_destroy(fanout);
	printf("made %" PRId64 " ", made());
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		printf("%s %" PRId64 "%s", rows[i].name, row(rows[i].row),
			i + 1 < sizeof(rows) / sizeof(*rows) ? " " : "\n");
	event_free(pushed);
	event_free(tick);
	event_base_free(base);
	libevent_global_shutdown();
}

/* Returns false after the last command. */
static bool obey(const char *line)
{
	unsigned first, last;
	bool good = true;

	if (sscanf(line, "push %u %u", &first, &last) == 2)
		push(first, last);
	else if (!strcmp(line, "rest\n"))
		good = run_until_none(SPANS_QUEUED, SPANS_QUEUED, 15);
	else if (!strcmp(line, "empty\n"))
		good = run_until_none(SPANS_QUEUED, SPANS_SPOOLED, 15);
	else if (!strcmp(line, "end\n"))
		return false;
	else
		good = false;
	printf("%s\n", good ? "good" : "bad");
	fflush(stdout);
	return true;
}

int main(int argc, char **argv)
{
	void (*arm)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "failing_arm");
	char line[64];

	if (argc != 3)
		return EX_USAGE;
	log_init("delivery");
	if (arm)
		arm();
	start(argv[1], argv[2]);
	while (fgets(line, sizeof(line), stdin) && obey(line))
		;
	end();
	return EXIT_SUCCESS;
}
