/* SPDX-License-Identifier: BSD-2-Clause */
/* Internals of the spooler, only for its parts: spooler.c and spoolerreplay.c. All calls are its thread's. */
#ifndef OUTPUT_SPOOL_SPOOLERPARTS_H
#define OUTPUT_SPOOL_SPOOLERPARTS_H

#include <pthread.h>
#include <stdatomic.h>

#include "output/spool/marks.h"
#include "output/spool/pace.h"
#include "output/spool/spool.h"
#include "output/spool/spooler.h"
#include "output/spool/spoolname.h"
#include "queue/backlog.h"

struct spooler {
	struct queue *queue;
	struct spool *spool;
	char label[SPOOLNAME_MAX + 32]; /* what the log calls it, */
	const char *items;              /* and what it has */
	struct spool_holds holds;
	struct pace pace;
	double item_bytes;      /* of the latest batch that was read */
	bool entered;           /* in the ledger */
	bool failing;           /* which was logged */
	int64_t retry_at;       /* 0: it works */
	int64_t retry_ns;       /* the next wait */
	int64_t stored_at;      /* the last commit */
	int64_t looked_at;      /* for the files */
	int64_t deleted_at;     /* the last deletion */
	bool paced;             /* it has begun at all */
	int64_t waited_at;      /* when the pace had something wait the last time; 0: never */
	unsigned paced_returns; /* the pace began then: the backlog's `returns` */
	int64_t last_id;        /* that was read for replay */
	unsigned under_way;     /* batches read, and not deleted */
	int64_t ids[256];       /* to be deleted */
	unsigned to_delete;     /* how many of them */
	struct marks marks;
	struct drain drain;
	struct discard *discard;
	bool recalling; /* batches that were given up may come back from the uplink */
	atomic_bool stopping, over;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	struct spooler_state state;
};

/* spooler.c's */

/* Notes whether the last call worked, and logs a change. Returns @good. */
bool spooler_note(struct spooler *spooler, bool good);

/* Posts what was stored, and what was lost meanwhile, in one change. */
void spooler_post(struct spooler *spooler, const struct entry *stored);

/* Opens the spool for the first time, and posts what an earlier agent left in it. */
bool spooler_enter(struct spooler *spooler);

/* spoolerreplay.c's */

bool spooler_delete_replayed(struct spooler *spooler);
bool spooler_has_more(const struct spooler *spooler);

/* Hands over as much as the pace allows and the uplink keeps up with. */
void spooler_replay(struct spooler *spooler, const struct backlog *backlog, int64_t now);

/* While the collector takes nothing: hands over one batch, for the uplink to try it with. */
void spooler_probe(struct spooler *spooler, const struct backlog *backlog);

/* Gives up what the uplink had, and brought back. */
bool spooler_recall(struct spooler *spooler);

/* At the end: what is left of batches that were delivered in part takes their place, so that none of the rest
 * comes twice. */
void spooler_put_rests(struct spooler *spooler);

/* Does a part of the order to give up what waits. */
void spooler_give_up(struct spooler *spooler);

#endif
