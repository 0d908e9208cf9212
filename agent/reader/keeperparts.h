/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The keeper as its parts share it: which session it is and what to do with it (keeper.c), making a new one
 * (newsession.c), reading it live (readlive.c, standstill.c) or from relayd's files (readfiles.c), and its
 * end (endsession.c).
 */
#ifndef READER_KEEPERPARTS_H
#define READER_KEEPERPARTS_H

#include <stdatomic.h>

#include <glib.h>

#include "reader/cleanup.h"
#include "reader/decode/reader.h"
#include "reader/keeper.h"
#include "reader/livereader.h"
#include "reader/recover.h"
#include "session/session.h"
#include "session/watch.h"

/* So often in a row live reading may stall before the session is read from files. */
#define STALLS_MAX 2
/* and so often it may break off, */
#define BREAKS_MAX 3
/* or babeltrace2 fail on what it is attached to. */
#define UNREADABLE_MAX 3

struct keeper {
	const struct config *config;
	struct pipeline *pipeline;
	struct progress *progress;
	struct runstate *state;
	struct agent_link *link;
	struct watch *watch;
	struct livereader *live;
	struct cleanup cleanup;
	struct recover recover;
	_Atomic int64_t stop_timeout; /* ns; the main thread writes it */
	int64_t clock_looked;         /* when the wall clock was looked at; CLOCK_MONOTONIC ns */
	uint64_t condemned;           /* when the session was created that records no more */
	uint64_t ended;               /* when the last one was created that was destroyed */
	bool again;                   /* the session is to be attached to again, at once; */
	bool reattaching;             /* that is being done */
	bool draining;                /* a stop reads on until its deadline */

	/* reading live */
	int64_t poll_ns;     /* the pause between two looks at an idle reader, */
	int64_t paused;      /* and how long the latest one was meant to be, as there may be longer ones */
	unsigned unreadable; /* attempts in a row to attach in which babeltrace2 failed, */
	uint64_t failing;    /* and when the session was created in which it did */
	unsigned stalls;     /* in a row, of this session */
	unsigned breaks;     /* times in a row that babeltrace2 failed soon after it attached */
	bool use_files;      /* it did that so often that it is read from files for a while */
	int64_t silence;     /* for so long nothing came, ns, */
	int64_t listened;    /* as of this moment; */
	bool still;          /* so long that it was reported; */
	int64_t probe_next;  /* it is not to be found out why before, CLOCK_MONOTONIC ns */

	/* a session that is stuck */
	bool stands_still; /* live reading did, while there was something to read */
	bool helped;       /* attaching has helped for a while before that */
	bool stalled;      /* what is on disk did not come */
	char stuck[256];   /* whose streams are stuck, while the session is not replaced; "" if none is; */
	enum reason stuck_reason; /* and as what that is told */
	unsigned replaced;        /* times in a row */
	int64_t replace_next;     /* not before; CLOCK_MONOTONIC ns */
	int64_t look_next;        /* the next look at it while it is read from files, not before */
	int64_t other_next;  /* and another session to find out what stands still, which could not be made */
	int64_t change_next; /* another session is put off until then; CLOCK_MONOTONIC ns; 0: none is */
	bool looked_for_others; /* whether a session is there that took another one's place */

	/* ring buffers that were full */
	uint64_t discarded; /* events, before those that are a reason to grow, */
	uint64_t seen;      /* and as of the last look; */
	int64_t few_until;  /* then they are none, as they were few; CLOCK_MONOTONIC ns; 0: there are none */
	int64_t grow_next;  /* not before; the same */
	unsigned grow_failed; /* times in a row */

	/* reading files */
	bool from_files;    /* the log says that the session is not read live */
	char no_files[512]; /* why the last pass could not read relayd's files; "" if it could */
	char trouble[512];  /* why the files of a session that is read live cannot be read, as the status says
			     */
	unsigned recoveries;  /* that failed in a row */
	GPtrArray *users;     /* of struct user */
	int64_t files_until;  /* live reading is not to be tried before, as readers have died of it, */
	int64_t kernel_until; /* or as it would wait for what the kernel has recorded */
	char left_out[512];   /* what the status says of the last user whose packets were left out */

	/* a session that is lost */
	int64_t looked;     /* when a reader before this one was there, CLOCK_MONOTONIC ns */
	int64_t lost_since; /* what was recorded since then is, until another session records; 0: nothing */

	/* new sessions */
	bool held;           /* relayd did not let go of an old session in time */
	unsigned vain;       /* sessions in a row that could not be attached to */
	int64_t create_next; /* not before; CLOCK_MONOTONIC ns */
};

/* keeper.c */

/* Does what has to be done all the time, between two messages; @idle: there are none. */
void keeper_tick(struct keeper *keeper, bool idle);

/* A call for the session failed: nothing is collected. */
void keeper_session_failed(struct keeper *keeper, enum session_status status, const char *error);

/* Whether the checkpoint knew the session at hand. If not it may be another agent's: nothing of it is
 * delivered before it is attached to, as only one can be. */
bool keeper_knows_session(const struct keeper *keeper);

/* Whether the session is to outlive this reader. */
bool keeper_keeps(const struct keeper *keeper);

/* Starts the session; false if that fails. */
bool keeper_start(struct keeper *keeper, struct session *session);

/* Whether the disk of lttng-relayd is full. */
bool keeper_disk_is_full(const struct keeper *keeper, struct problem *problem);

/* newsession.c */

/* Makes a session and reads it, @beside one of our name that has ended and is not gone; returns whether to go
 * on at once. */
bool keeper_make_session(struct keeper *keeper, bool beside);

/* readlive.c */

/* Attaches to the session at hand, and holds what comes. */
enum attached keeper_attach(struct keeper *keeper, struct session *session, struct reader **reader);

/* Whether babeltrace2 has failed so often that the session is to be read from files. */
bool keeper_gives_up_live(const struct keeper *keeper);

/* Whether readers have died of reading it live, or of a user's trace that is left out. */
bool keeper_avoids_live(const struct keeper *keeper);

/* Reads the session, to whatever ends that; @new: it was just made. If another one takes its place the reader
 * is closed, and NULL. */
void keeper_read_live(struct keeper *keeper, struct session *session, struct reader **attached, bool new);

/* standstill.c */

/* Reading live begins; then, after each step, whether it brought anything. If nothing for long, the last one
 * returns true: it is to be found out why. */
void keeper_begins_to_listen(struct keeper *keeper);
void keeper_hears(struct keeper *keeper);
bool keeper_hears_nothing(struct keeper *keeper, const struct reader *reader);

/* The consumer daemon passes on nothing, of no stream; or it does again. */
void keeper_consumer_stands_still(struct keeper *keeper, bool still);

/* Live reading stalls: the session is attached to again; if that did not @help for long, it is read from
 * files for a while. */
void keeper_stalled(struct keeper *keeper, bool helped);

/* replace.c */

/* Finds a name for a session beside the one at hand, if any. Those of sessions that did not end yet are
 * taken: so there are never more than so many. */
bool keeper_find_name(struct keeper *keeper, char *name, size_t size);

/* Live reading stood still, and nobody is attached any more: finds out why, and replaces the session if one
 * of its streams is stuck. Returns whether to go on at once. */
bool keeper_stands_still(struct keeper *keeper);

/* The session is read from files: looks now and then whether all of it moves, and replaces it if one of its
 * streams is stuck. Returns whether it tried that, and then whether to go on @at_once. */
bool keeper_looks_aside(struct keeper *keeper, bool *at_once);

/* Replaces the session by one with the settings of the configuration, without a moment in which none records.
 * False if that could not be done, or is put off; else the reader that is @attached is closed, and NULL, and
 * it is known whether to go on @at_once, with what is left of this one, too. */
bool keeper_hand_over(struct keeper *keeper, struct reader **attached, bool *at_once);

/* Another session is to take this one's place. Whether it cannot yet, as one of LTTng's daemons does not
 * answer, and another one would wait for it: keeper->change_next says when to try again. */
bool keeper_puts_off(struct keeper *keeper);

/* Whether it can now: found out when that is due. */
bool keeper_may_change(struct keeper *keeper);

/* The same of the session at hand, which has the settings of the configuration, but for the kernel's channel
 * if the kernel's consumer daemon did not answer. */
void keeper_waits_for_kernel(struct keeper *keeper);

/* Whether another session had taken this one's place, and is there: a reader that has ended since, or could
 * not read the rest, had stopped this one, or was about to. */
bool keeper_was_replaced(struct keeper *keeper);

/* A session that was to take this one's place, and records nothing yet, is forgotten if it is gone, too. */
void keeper_forgets_mute(struct keeper *keeper);

/* Reads the rest of this session, which is stopped. Returns whether to go on at once. */
bool keeper_end_replaced(struct keeper *keeper, struct session *session);

/* growth.c */

/* Whether the session at hand has the settings of the configuration, and its ring buffers the size that is
 * wanted, or to which an earlier reader let them grow. */
bool keeper_has_our_settings(struct keeper *keeper);

/* What was lost until now is no reason to grow: the buffers were another session's. */
void keeper_forget_discarded(struct keeper *keeper);

/* Whether ring buffers were full, and can be larger. */
bool keeper_outgrows(struct keeper *keeper);

/* Replaces the session by one with larger ring buffers; as keeper_hand_over. */
void keeper_grow(struct keeper *keeper, struct reader **attached, bool *at_once);

/* readfiles.c */

/* @alone: each user's trace, until the session is read live. */
void keeper_init_recovery(struct keeper *keeper, bool alone);

/* Reads what is on disk, until no more than @enough bytes are left, or as much comes meanwhile as is read;
 * false if it cannot go on. */
bool keeper_catch_up(struct keeper *keeper, uint64_t enough);

/* Reads what is left of the session at hand, which is over; false if that did not come to an end. @why: what
 * kept it from being read, or "". */
bool keeper_read_rest(struct keeper *keeper, char *why, size_t size);

/* Reads the session from files for a while; @same: its settings are those of the configuration. Returns
 * whether to go on at once. */
bool keeper_read_files(struct keeper *keeper, struct session *session, bool same);

/* endsession.c */

/* Waits until relayd has let go of that session, which is gone; false if it does not. */
bool keeper_wait_for_release(struct keeper *keeper, const struct session_identity *session);

/* The session at hand is read to its end, and nobody writes it any more. */
void keeper_end(struct keeper *keeper);

/* The session at hand is over, and the agent did not end it. Returns whether to go on at once. */
bool keeper_lose(struct keeper *keeper, const char *why);

/* The same for a session that is gone and has no successor: relayd is about to be done with it. */
bool keeper_lose_gone(struct keeper *keeper, const char *why);

/* Whether @session, which the agent did not end, is not there any more. */
bool keeper_is_gone(const struct keeper *keeper, const struct session_identity *session);

/* A session records @since this moment: the time in which what programs recorded was lost is over, and
 * counted. */
void keeper_records(struct keeper *keeper, int64_t since);

/* Ends the session at hand, and reads it to its end, live if @reader is not NULL, then from files. */
void keeper_finish(struct keeper *keeper, struct session *session, struct reader *reader);

#endif
