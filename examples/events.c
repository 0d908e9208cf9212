/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans in a program of callbacks: many requests are in progress in one thread, and none has a stack of its
 * own.
 *
 *     events REQUESTS
 *
 * A span lives wherever its owner puts it: here in the struct of the request, from one callback to the next.
 * Each request is a trace, the span "get", and asks the cache within it, the span "lookup"; if that does not
 * know, the database, the span "query". Both are far away: timers stand for their answers. The database never
 * answers every sixth request, which is then given up.
 */
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <blkin/blkin.h>

#define MAX_REQUESTS 256

static const struct blkin_endpoint here = {"10.0.0.6", 8080, "frontend"};
static const struct blkin_endpoint cache = {"10.0.0.7", 11211, "cache"};
static const struct blkin_endpoint database = {"10.0.0.8", 5432, "database"};

struct request {
	int number;
	struct blkin_span span; /* of the whole request */
	struct blkin_span call; /* of the call that it waits for */
	int timer;              /* the call's answer; -1: the request is done */
	void (*on_timer)(struct request *request);
};

/* Has @callback called after a while. */
static void wait_for(struct request *request, int ms, void (*callback)(struct request *request))
{
	struct itimerspec when = {.it_value = {.tv_nsec = ms * 1000000L}};

	request->on_timer = callback;
	if (timerfd_settime(request->timer, 0, &when, NULL) < 0)
		abort();
}

static void end(struct request *request)
{
	blkin_span_finish(&request->span);
	close(request->timer);
	request->timer = -1;
}

static void on_query_answer(struct request *request)
{
	blkin_span_tag_int(&request->call, "rows", 1);
	blkin_span_finish(&request->call);
	end(request);
}

/* What comes to no good end is finished too: a span that nobody finishes is not recorded. */
static void on_query_timeout(struct request *request)
{
	blkin_span_error(&request->call, "no answer");
	blkin_span_finish(&request->call);
	blkin_span_error(&request->span, "the database does not answer");
	end(request);
}

static void query(struct request *request)
{
	/* Its memory is free for the next call: the one before has finished. */
	blkin_span_start(&request->call, BLKIN_CLIENT, "query", &here, blkin_span_context(&request->span));
	blkin_span_remote(&request->call, &database);
	if (request->number % 6 == 5)
		wait_for(request, 10, on_query_timeout);
	else
		wait_for(request, 4, on_query_answer);
}

static void on_lookup_answer(struct request *request)
{
	int hit = request->number % 2 == 0;

	blkin_span_tag_bool(&request->call, "hit", hit);
	blkin_span_finish(&request->call);
	blkin_span_annotate(&request->span, hit ? "cache hit" : "cache miss");
	if (hit)
		end(request);
	else
		query(request);
}

static void begin(struct request *request, int number)
{
	request->number = number;
	request->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	if (request->timer < 0)
		abort();
	blkin_span_start(&request->span, BLKIN_SERVER, "get", &here, NULL);
	blkin_span_tag_int(&request->span, "number", number);
	blkin_span_start(&request->call, BLKIN_CLIENT, "lookup", &here, blkin_span_context(&request->span));
	blkin_span_remote(&request->call, &cache);
	wait_for(request, 2, on_lookup_answer);
}

/* Calls back for the timers that are due; returns how many requests are in progress. */
static int turn(struct request *requests, int count)
{
	struct pollfd fds[MAX_REQUESTS];
	int i, open = 0;

	for (i = 0; i < count; i++) {
		fds[i] = (struct pollfd){requests[i].timer, POLLIN, 0}; /* poll skips -1 */
		open += requests[i].timer >= 0;
	}
	if (!open || poll(fds, (nfds_t)count, -1) < 0)
		return open;
	for (i = 0; i < count; i++) {
		uint64_t times;

		if (fds[i].revents && read(fds[i].fd, &times, sizeof(times)) == sizeof(times))
			requests[i].on_timer(&requests[i]);
	}
	return open;
}

int main(int argc, char **argv)
{
	static struct request requests[MAX_REQUESTS];
	int count = argc == 2 ? atoi(argv[1]) : 0;

	if (count < 1 || count > MAX_REQUESTS) {
		fprintf(stderr, "usage: events REQUESTS, 1 to %d\n", MAX_REQUESTS);
		return 64;
	}
	for (int i = 0; i < count; i++)
		begin(&requests[i], i);
	while (turn(requests, count))
		continue;
	return 0;
}
