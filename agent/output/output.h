/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An output, or rather one of its lanes (core/kind.h): what [output] or [output NAME] says, for one kind of
 * items. It owns a queue, the uplink that takes batches out of it, the spool that keeps them while the uplink
 * cannot, and an account of the ledger. They do not affect each other.
 *
 * All calls are the main thread's.
 */
#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

#include <stdbool.h>

#include <event2/event.h>

#include "config/config.h"
#include "output/sharing.h"
#include "output/spool/spooler.h"
#include "output/uplink/uplink.h"
#include "queue/outlets.h"

struct output;

/* How outputs deliver: the same for all. */
struct output_manner {
	bool patient;  /* an import: who pushes waits for room */
	bool senders;  /* other agents may send to this one */
	bool starting; /* the agent: what may pass, as a file that is missing, is no reason to do without the
			  rest */
	int64_t disk_ns;             /* of queue_limits */
	struct wanted *wanted;       /* the traces that are wanted whole; NULL: an import; borrowed */
	const char *state_directory; /* borrowed for the call */
};

/* Whether it sends every span, as it was made: without tags and rules of its own, and without a look at it.
 */
bool output_is_plain(const struct output_config *is);

/* Starts to deliver. NULL, having logged why, if what @is says does not do; the uplink keeps a reference to
 * that. */
struct output *output_create(struct event_base *base, const struct output_config *is, enum kind kind,
	const struct output_manner *manner);

/*
 * Starts the spool, if @is wants one: it enters in the account what it has on disk, so the ledger of the last
 * run has to be taken up before. False, having logged why, if no thread can be had.
 */
bool output_start_spool(struct output *output, const struct config *config, const struct output_config *is);

/* The lane's. */
const char *output_name(const struct output *output);
enum kind output_kind(const struct output *output);
struct account *output_account(const struct output *output);

/* Where its spool is, if it has one, or else NULL; g_free. */
char *output_spool_path(const struct output *output);

/* See outputs_part. */
double output_part(const struct output *output);

/* What a producer has to know; the queue is borrowed. */
struct outlet output_outlet(const struct output *output);

/* The limits of queue and batches are those of @is from now on. */
void output_configure(
	struct output *output, const struct output_config *is, const struct output_manner *manner);

/*
 * An uplink for what @is says, in the place of the one that there is: made first, as that may fail (NULL,
 * having logged why), then put in. What has no answer yet is sent again by the new one.
 */
struct uplink *output_make_uplink(struct output *output, const struct output_config *is);
void output_replace_uplink(struct output *output, struct uplink *uplink);

/* Nothing more comes. */
void output_close(struct output *output);

/* Calls @done with @data once, from the loop, when the queue is closed and all of it is delivered or stored.
 */
void output_when_drained(struct output *output, void (*done)(void *data), void *data);

struct output_state {
	const char *name; /* the lane's, borrowed */
	enum kind kind;
	struct uplink_state uplink;
	struct spooler_state spool;
	size_t queue_bytes, queue_limit;
	int64_t queue_wait_ns;  /* so long the oldest fresh batch waits */
	bool queue_grows;       /* more and more of them do, while the collector takes some */
	int64_t dropped_at_end; /* output_drop's */
	struct account_rows account;
	struct sharing_state sharing;
};

/* Orders what waits in its spool to be given up: see spooler_discard. No output without a spool is asked. */
bool output_has_spool(const struct output *output);
bool output_discard(struct output *output, int64_t before, unsigned user);
void output_read_discard(const struct output *output, struct discard_state *state);

/* All but the account; of the uplink nothing once it is ended. */
void output_read_state(const struct output *output, struct output_state *state);

/* Ends the uplink; what it had goes back to the queue. */
void output_end_uplink(struct output *output);

/* Begins to store what still waits, if there is a spool; after output_end_uplink. output_spool_is_over says
 * when that is done. */
void output_stop_spool(struct output *output);
bool output_spool_is_over(const struct output *output);

/* The same, and waits for it. */
void output_end_spool(struct output *output);

/* Enters what still waits as dropped, or if not @all, what of it cannot be read again; both being ended. */
void output_drop(struct output *output, bool all);

/* Frees it, both being ended. What still waits is entered as dropped if @drop. */
void output_destroy(struct output *output, bool drop);

#endif
