/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The uplink: takes batches from an output's queue and delivers them to a collector, at least once.
 *
 * Of several servers, the first in the order of preference that works gets the spans. When it fails, the next
 * one takes over at once. From then on the servers before it are tried at intervals with one batch, which
 * they must accept before they get the rest: an unreliable server causes one change per interval. With a
 * node's name, the order of preference is that of the servers' weights for it (base/rendezvous.h), and the
 * addresses of a server's name are preferred in the same way (server/renew.c).
 *
 * In the place of servers there may be Kafka's brokers (kafka/), or a directory, into whose files a thread
 * writes (file/); a disk that fails is then what a server is that is away.
 *
 * A problem is logged once when it begins, and once when it is over, within limits. All else runs in the
 * thread of the event_base. The process must ignore SIGPIPE.
 *
 * A folder for each type of output has what is its own (uplinktype.h). Those that go to servers share
 * server/: servers (which of them is in use), server (one of them), link (a connection with calls), suspects
 * (batches on which a server fails), courtesy and sendpace (how much it is asked for). All share backoff
 * (waits between tries), delivery (the batches on their way; bisect and parcel for refused ones), ratelimit,
 * and health (log and state).
 */
#ifndef OUTPUT_UPLINK_UPLINK_H
#define OUTPUT_UPLINK_UPLINK_H

#include <stdbool.h>
#include <stdint.h>

#include <event2/event.h>

#include "base/address.h"
#include "config/config.h"
#include "core/fault.h"
#include "net/ranking.h"
#include "queue/queue.h"
#include "queue/wanted.h"

struct uplink_options {
	const struct output_config *is; /* what the configuration says; who keeps it takes a reference */
	const char *name;               /* the lane's, for the log; "default": it needs none */
	enum kind kind;                 /* of the items */
	const char *node;   /* by whose weights servers and addresses are preferred; NULL: by their order */
	int64_t age_ns;     /* with a node: about so long a connection lasts; 0: as long as is usual */
	const char *record; /* of files: the path of written.h's; NULL: none */
	bool starting;      /* TLS files that cannot be used now are a fault that may pass */
	struct wanted *wanted; /* the traces that are wanted whole (queue/wanted.h), and the output's number
				  there; NULL: nobody is told of any; */
	uint64_t number;
	bool patient; /* an import's: what an agent that was killed left in files stays there */
};

struct uplink;

struct uplink_server_state {
	const char *server;       /* or the directory; borrowed from the uplink */
	bool serving;             /* it gets the spans, or would if it were up */
	bool up;                  /* connected, and the last answer was good */
	enum fault fault;         /* why nothing gets through; FAULT_NONE: that is not known */
	int64_t failing_since;    /* with a fault: CLOCK_MONOTONIC ns */
	int64_t connecting_since; /* it has not connected yet, nor failed to: since then; 0: it has */
	char error[256];          /* why it is not up; "" if it is */
	bool was_up;              /* at some time */
	bool took;                /* it has taken something, at some time */
	int64_t asked;  /* it asked to be left alone until then, CLOCK_MONOTONIC ns; 0: it did not */
	bool endless;   /* its answers have no end */
	bool unsteady;  /* it has failed and recovered again and again within a minute, */
	char last[256]; /* the last time for this reason */
};

/* Batches on which the server in use fails: server/suspects.h. */
struct suspects_state {
	uint64_t spans;  /* set aside */
	char error[256]; /* how the server fails on them; "" unless that is proven */
};

struct uplink_state {
	bool up;             /* the server that serves is */
	const char *type;    /* its name in the configuration: outputtype.h */
	const char *server;  /* the server in use, or the directory; borrowed from the uplink */
	char error[256];     /* why it is not up; "" if it is */
	uint32_t calls_open; /* on all */
	struct suspects_state suspects;
	char tls_outdated[512]; /* why TLS files are not used as they are now, but as they were; "" */
	int64_t lost,
		lost_at;  /* items that somebody removed with a file, the last time; CLOCK_MONOTONIC ns */
	const char *node; /* whose weights say which server is preferred; NULL: their order does */
	struct reached reached; /* by the server in use: with a node, and once up, or else of count 0 */
	uint32_t server_count;
	struct uplink_server_state servers[ADDRESSES_MAX]; /* in the order of preference */
};

/* Starts connecting. NULL, having logged why, if they are invalid. */
struct uplink *uplink_create(
	struct event_base *base, struct queue *queue, const struct uplink_options *options);

/* Closes the connections, or finishes the file, and gives open batches back to the queue. */
void uplink_destroy(struct uplink *uplink);

/* There may be new batches: sends what the window allows. Only in the loop's thread. */
void uplink_wake(struct uplink *uplink);

/* Each second, in the loop's thread: asks which traces others want to have whole, where that is of use. */
void uplink_ask(struct uplink *uplink);

/*
 * Calls @done with @data once, from the loop, when queue_done() is true. Current waits are cut to the
 * shortest, because a stop has no time for long ones.
 */
void uplink_when_drained(struct uplink *uplink, void (*done)(void *data), void *data);

void uplink_read_state(const struct uplink *uplink, struct uplink_state *state);

#endif
