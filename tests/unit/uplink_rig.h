/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the uplink's tests stand on: an uplink between a queue and a fake server, all in one loop, with the
 * ledger's rows from the start of the test and the log's lines to look at.
 */
#ifndef UPLINK_RIG_H
#define UPLINK_RIG_H

#include <check.h>
#include <stdio.h>
#include <string.h>

#include <event2/event.h>

#include "base/clock.h"
#include "core/ledger.h"
#include "output/uplink/uplink.h"
#include "peer.h"
#include "queue/fanout.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define SPANS 5 /* in a batch */

/* Sets what the peer does from here on. */
#define ACT(peer, ...)                                                                                       \
	do {                                                                                                 \
		static const enum peer_act list[] = {__VA_ARGS__};                                           \
		peer_set_acts(peer, list, LENGTH(list));                                                     \
	} while (0)

/* Of a test that waits until it is over. All others have a longer one, which no busy machine makes them miss.
 */
#define SHORT_TIMEOUT (250 * NS_PER_MS)

/* libevent's timers go by the coarse clock: each may fire so much too early. */
#define EARLY_NS (12 * NS_PER_MS)

/* Everything that a test has: one of each, in one loop. */
struct rig {
	struct event_base *base;
	struct event *tick; /* so that the loop never sleeps for long */
	struct event *woken;
	struct peer *peer;
	struct queue *queue;
	struct fanout *fanout; /* what fills it */
	struct uplink *uplink;
	struct output_config is; /* nobody frees what it refers to */
	struct uplink_options options;
	char server[256];
	struct account *account;
	struct account_rows start;
	unsigned int pushed; /* spans */
	int drained;
	FILE *real_stderr;
	char *log;
	size_t log_size;
};

/* Runs the loop until @condition holds, which it must within 30 s: sanitizers make it slow. */
#define RUN_UNTIL(rig, condition)                                                                            \
	do {                                                                                                 \
		int64_t run_end = clock_monotonic() + 30 * NS_PER_SECOND;                                    \
		while (!(condition) && clock_monotonic() < run_end)                                          \
			event_base_loop((rig)->base, EVLOOP_ONCE);                                           \
		ck_assert_msg(condition, "after 30 s still not: %s", #condition);                            \
	} while (0)

#define ASSERT_ROW(rig, which, amount) ck_assert_int_eq(row(rig, which), amount)

/* All but the uplink: the test may change the options, and fill the queue, before it starts it. */
void rig_open(struct rig *rig);
void rig_close(struct rig *rig);
void start(struct rig *rig);

/* An empty queue of so many bytes in place of the one that there is; before the uplink starts. */
void rig_resize(struct rig *rig, size_t bytes);

/* Adds a span to the open batch, as another agent's in Thrift, or any bytes, or as this node's; and pushes
 * that: all in one way. */
void push_span(struct rig *rig, const void *span, size_t size);
void push_record(struct rig *rig, const struct span *span);
void push_batch(struct rig *rig);

/* Pushes a batch of so many spans, named by the order of all; and batches of SPANS. */
void push_many(struct rig *rig, int spans);
void push(struct rig *rig, int batches);

void run_ms(struct rig *rig, int ms);

/* A row of the output's account, since the start of the test; and the sum of all errors. */
int64_t row(struct rig *rig, enum account_row which);
int64_t errors(struct rig *rig);

/* How many spans' latencies the account has. */
uint64_t latencies(struct rig *rig);

/* How often these words are in the log. */
unsigned int in_log(struct rig *rig, const char *words);

struct uplink_state state_of(struct rig *rig);

/* All that was pushed was sent, arrived at least once, and no more often than the ledger says that it may
 * have. */
void assert_all_arrived(struct rig *rig);

/* It arrived once, and in order. */
void assert_in_order(struct rig *rig);

/* The tests. */
TCase *uplink_answers(void);
TCase *uplink_asking(void);
TCase *uplink_backoff(void);
TCase *uplink_balance(void);
TCase *uplink_connections(void);
TCase *uplink_courtesy(void);
TCase *uplink_evenpace(void);
TCase *uplink_dns(void);
TCase *uplink_formats(void);
TCase *uplink_http(void);
TCase *uplink_proxy(void);
TCase *uplink_refusals(void);
TCase *uplink_replay(void);
TCase *uplink_rooms(void);
TCase *uplink_sendpace(void);
TCase *uplink_servers(void);
TCase *uplink_suspects(void);
TCase *uplink_tls(void);
TCase *uplink_trials(void);
TCase *uplink_untimely(void);

#endif
