/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the reader and the agent say to each other: frames, by value, in both directions.
 *
 * The reader is a process of its own, as babeltrace2 may crash, hang or eat memory on what traced programs
 * write. So the agent takes everything that comes from it for bytes of a stranger: a frame that is too large
 * or not as it should be ends the reader. The two are of one version, which the first frame tells.
 *
 * Order makes the counts exact. A FRAME_HAND has a change of the ledger, the spans that were made with it and
 * what was reached by then, and is taken as a whole or not at all. A FRAME_POSITION comes behind all that
 * belongs before it.
 */
#ifndef HANDOVER_FRAMES_H
#define HANDOVER_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "base/pack.h"
#include "config/config.h"
#include "core/ledger.h"
#include "core/misuse.h"
#include "core/reason.h"
#include "core/userbuffers.h"
#include "queue/batch.h"

/* Descriptors that the reader has from its start, and where its configuration is. */
#define READER_SOCKET 3
#define READER_PAGE 4
#define READER_CONFIG 5
#define READER_CONFIG_PATH "/proc/self/fd/5"

/* Where a snapshot is put, below the state directory: by the reader, for the agent, which removes it. */
#define FLIGHT_SNAPSHOT FLIGHT_FOLDER "/snapshot"

enum frame_type {
	/* the reader to the agent */
	FRAME_HELLO = 1, /* its version, as text */
	FRAME_HAND,      /* struct hand */
	FRAME_POSITION,  /* its number, then its bytes to the end */
	FRAME_SAVE,      /* what was reached is to be written down now */
	FRAME_STATE,     /* struct report */
	FRAME_OMITS,     /* struct omissions */
	FRAME_BUFFERS,   /* struct user_buffers */
	FRAME_LEFT_OUT,  /* struct unreadable */
	FRAME_MISUSE,    /* its kind, then struct misuse */
	FRAME_WELL,      /* a user whose trace could be read alone */
	FRAME_ENDED,     /* it has read what it was to read; it waits for FRAME_FINISH */
	FRAME_FINISHED,  /* whether anything is left to be read: 0 or 1; it exits */
	FRAME_SNAPPED,   /* the number of a snapshot, and why there is none, as text: "" if there is */
	/* the agent to the reader */
	FRAME_START,     /* struct orders */
	FRAME_CONFIGURE, /* struct settings */
	FRAME_SETTLED,   /* the number of a position that holds, and what it cost to write it, ns */
	FRAME_STOP,      /* the time that it has, ns */
	FRAME_LEAVE,     /* another reader takes over */
	FRAME_SNAPSHOT,  /* the number of one that the flight recorder is to give, into FLIGHT_SNAPSHOT */
	FRAME_FINISH     /* the last one: channel.c */
};

/* Ahead of each frame; numbers are in the machine's order. */
struct frame_header {
	uint32_t type;
	uint32_t size; /* of what follows */
};

/* A frame is no larger than this, and twice the spans that may be in assembly: one span has up to 16 MiB, and
 * an event 1 MiB. */
#define FRAME_MAX (3 * 16 * 1024 * 1024)

/* The reader has come so far. */
struct hand {
	bool at_once; /* nothing more comes at the moment */
	struct ledger change;
	struct unpacker reached;
	struct items spans, events; /* of events, none but the batch */
};

/* Appends what comes before the items' own bytes, which are to be sent behind it: the spans' names and words;
 * sizes, event times and records of the spans; and the same of the events. */
void hand_pack(struct buffer *out, const struct hand *hand);

/* Reads a frame; the batches are filled, but borrow the items' bytes from the frame, as all that is said of
 * them is. A record is looked at when it is opened. */
bool hand_unpack(struct unpacker *from, struct hand *hand, struct batch *spans, struct batch *events);

/* Whether the reader collects. */
struct report {
	enum { REPORT_WAITS, REPORT_COLLECTS, REPORT_IN_PART } kind;
	bool new; /* the session was just made */
	char session[256];
	struct problem problem;
};

void report_pack(struct buffer *out, const struct report *report);
bool report_unpack(struct unpacker *from, struct report *report);

void omissions_pack(struct buffer *out, const struct omissions *omissions);
bool omissions_unpack(struct unpacker *from, struct omissions *omissions);

void buffers_pack(struct buffer *out, const struct user_buffers *buffers);
bool buffers_unpack(struct unpacker *from, struct user_buffers *buffers);

/* A user whose trace could not be read, so that so many packets of it are lost. */
struct unreadable {
	uint64_t user, packets;
	char error[512];
};

void unreadable_pack(struct buffer *out, const struct unreadable *unreadable);
bool unreadable_unpack(struct unpacker *from, struct unreadable *unreadable);

/* What a program has recorded wrongly. */
void misuse_pack(struct buffer *out, enum misuse_kind kind, const struct misuse *misuse);
bool misuse_unpack(struct unpacker *from, enum misuse_kind *kind, struct misuse *misuse);

/* A user of whose trace readers have died. */
struct suspect {
	uint64_t user;
	int64_t wait; /* it is left out for so long, ns; then it is read again, alone, after the others */
};

/* What a reader has to know at its start. */
struct orders {
	bool lasting;   /* the checkpoint outlives the agent */
	bool holds;     /* all before the position is settled */
	bool user;      /* config's, which has no key for it, */
	bool own_relay; /* nor for this */
	bool alone;     /* read from files, each user alone, before reading live */
	bool events;    /* those that are no part of a span are wanted */
	int64_t files;  /* read from files for so long, ns, before reading live */
	uint64_t number;
	struct unpacker position, reached;
	GArray *suspects; /* of struct suspect */
};

void orders_pack(struct buffer *out, const struct orders *orders);

/* @orders borrows from the frame; its list is to be unreffed. */
bool orders_unpack(struct unpacker *from, struct orders *orders);

/* What a reload changes. */
struct settings {
	uint64_t level;
	int64_t stop_timeout, linger, grace;
	uint64_t max_pending;
	uint64_t events; /* 1: those that are no part of a span are wanted */
	uint64_t log_level, log_format;
};

struct settings settings_of(const struct config *config);
void settings_pack(struct buffer *out, const struct settings *settings);
bool settings_unpack(struct unpacker *from, struct settings *settings);

#endif
