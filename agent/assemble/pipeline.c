/* SPDX-License-Identifier: BSD-2-Clause */
#include "assemble/pipeline.h"

#include <pthread.h>
#include <stdatomic.h>

#include <glib.h>

#include "assemble/assembler.h"
#include "base/clock.h"
#include "base/log.h"
#include "core/ledger.h"
#include "encode/zipkin.h"
#include "output/output.h"

/* Broken text is reported this often at most; the ledger counts each. */
#define REPAIR_LOG_NS (60 * NS_PER_SECOND)

struct line {
	struct batch_queue *queue;
	struct assembler *assembler;
	struct ledger change;  /* not posted yet */
	struct buffer encoded; /* one span */
	int64_t batch_clock;   /* when batches are born: the caller's clock at its last call */
	int64_t repair_logged;
	atomic_bool changed;  /* what follows is news */
	pthread_mutex_t lock; /* guards it */
	struct assembler_limits spans;
	struct batch_limits batches;
};

void line_post(struct line *line)
{
	ledger_post(&line->change);
	memset(&line->change, 0, sizeof(line->change));
}

static void push(struct line *line, bool force)
{
	line_post(line);
	batch_flush(line->queue, line->batch_clock, force);
}

/* One message a minute: a program that writes broken text tends to write a lot of it. */
static void report_repair(struct line *line, const struct span *span)
{
	int64_t now = clock_monotonic();

	if (line->repair_logged && now - line->repair_logged < REPAIR_LOG_NS)
		return;
	line->repair_logged = now;
	log_warning("service `%.*s` writes text that is not UTF-8 (span `%.*s`): the broken bytes are sent "
		    "as U+FFFD and "
		    "counted in blkin_agent_strings_repaired_total",
		(int)MIN(span->local.service.size, 64), span->local.service.data,
		(int)MIN(span->name.size, 64), span->name.data);
}

static void emit(void *data, const struct span *span)
{
	struct line *line = data;
	int repaired;

	line->encoded.size = 0;
	repaired = zipkin_encode(&line->encoded, span);
	if (repaired < 0 || !batch_add(line->queue, line->encoded.data, line->encoded.size, span->last_event,
				    line->batch_clock)) {
		line->change.row[SPANS_QUEUED]--;
		line->change.row[SPANS_DROPPED_OVERSIZE]++;
		return;
	}
	if (repaired > 0) {
		line->change.row[STRINGS_REPAIRED] += repaired;
		report_repair(line, span);
	}
	if (batch_full(line->queue))
		push(line, true);
}

static struct assembler_limits assembler_limits(const struct config *config)
{
	return (struct assembler_limits){config->linger, config->grace, config->max_pending};
}

struct line *line_create(const struct config *config, struct batch_queue *queue)
{
	struct assembler_limits limits = assembler_limits(config);
	struct line *line = g_new0(struct line, 1);

	pthread_mutex_init(&line->lock, NULL);
	line->queue = queue;
	line->assembler = assembler_create(&limits, &line->change, emit, line);
	return line;
}

void line_destroy(struct line *line)
{
	assembler_destroy(line->assembler);
	buffer_free(&line->encoded);
	pthread_mutex_destroy(&line->lock);
	g_free(line);
}

void line_event(struct line *line, enum event_type type, const struct event *event, int64_t now)
{
	line->change.row[EVENTS_READ]++;
	line->batch_clock = now;
	if (type == EVENT_FOREIGN)
		line->change.row[EVENTS_IGNORED]++;
	else if (type == EVENT_MALFORMED)
		line->change.row[EVENTS_REJECTED_MALFORMED]++;
	else
		assembler_take(line->assembler, event, now);
}

void line_event_again(struct line *line)
{
	line->change.row[EVENTS_READ_AGAIN]++;
}

void line_lost_events(struct line *line, uint64_t events)
{
	line->change.row[EVENTS_LOST_RING] += (int64_t)events;
}

void line_lost_packets(struct line *line, uint64_t packets)
{
	line->change.row[PACKETS_LOST] += (int64_t)packets;
}

void line_configure(struct line *line, const struct config *config)
{
	pthread_mutex_lock(&line->lock);
	line->spans = assembler_limits(config);
	line->batches = output_batch_limits(config_output(config, "default"));
	atomic_store(&line->changed, true);
	pthread_mutex_unlock(&line->lock);
}

/* The reader's thread takes up what line_configure left. */
static void take_changes(struct line *line)
{
	pthread_mutex_lock(&line->lock);
	atomic_store(&line->changed, false);
	assembler_configure(line->assembler, &line->spans);
	batch_configure(line->queue, &line->batches);
	pthread_mutex_unlock(&line->lock);
}

void line_tick(struct line *line, int64_t now, bool idle)
{
	if (atomic_load_explicit(&line->changed, memory_order_relaxed))
		take_changes(line);
	line->batch_clock = now;
	assembler_expire(line->assembler, now);
	push(line, idle);
}

void line_save(struct line *line, struct buffer *out)
{
	int64_t now = clock_monotonic();

	line->batch_clock = now;
	push(line, true);
	assembler_save(line->assembler, now, out);
}

bool line_load(struct line *line, struct unpacker from)
{
	bool good = assembler_load(line->assembler, from, clock_monotonic());

	push(line, true);
	return good;
}

void line_flush(struct line *line)
{
	assembler_flush(line->assembler);
	push(line, true);
}
