/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/assembler.h"

#include <inttypes.h>

#include <glib.h>

#include "reader/assemble/earlypieces.h"
#include "reader/assemble/endpoint.h"
#include "reader/assemble/pending.h"
#include "reader/assemble/pendingkey.h"
#include "reader/assemble/pendingsave.h"
#include "reader/assemble/pendingspan.h"
#include "reader/assemble/pieces.h"
#include "reader/assemble/spandata.h"
#include "reader/assemble/spanevent.h"
#include "reader/assemble/tagtype.h"

/* A pending span larger than this is emitted as it is, and continues as a new pending span. */
#define PENDING_MAX (1024 * 1024)

/* The tag of a span that has lost some of its annotations and tags. */
#define TRUNCATED "blkin.truncated"

/* The first event after what was loaded is still to come. */
#define RESUMES UINT64_MAX

/* The year 2096: late enough, and sums of two times cannot overflow. */
#define EVENT_TIME_MAX INT64_C(4000000000000000000)

/*
 * Pending spans by deadline: those that have ended wait for grace, the others for linger; both in order of
 * arrival.
 */
TAILQ_HEAD(pending_list, pending);

struct assembler {
	struct assembler_limits limits;
	struct ledger *change;
	void (*emit)(void *data, const struct span *span);
	void *data;
	GHashTable *pending; /* by key */
	struct pending_list open, ended;
	size_t bytes;
	struct span_data lines;            /* of the current blkin:span event */
	struct pending_span_memory memory; /* of the emitted span, if it was pending */
	struct buffer joined;              /* its lines, if some came before it */
	struct early_pieces early;         /* of spans that were emitted before their event came */
	uint64_t resumed; /* the clock of the first event after what was loaded, or RESUMES; 0: nothing was */
	char missing[64]; /* what the tag of the emitted span says is missing */
	struct misuses misuses;
};

struct assembler *assembler_create(const struct assembler_limits *limits, struct ledger *change,
	void (*emit)(void *data, const struct span *span), void *data)
{
	struct assembler *assembler = g_new0(struct assembler, 1);

	assembler->limits = *limits;
	assembler->change = change;
	assembler->emit = emit;
	assembler->data = data;
	assembler->pending = pending_table_create();
	early_pieces_init(&assembler->early);
	TAILQ_INIT(&assembler->open);
	TAILQ_INIT(&assembler->ended);
	return assembler;
}

void assembler_destroy(struct assembler *assembler)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, assembler->pending);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		pending_destroy(value);
	g_hash_table_destroy(assembler->pending);
	span_data_free(&assembler->lines);
	pending_span_memory_free(&assembler->memory);
	buffer_free(&assembler->joined);
	early_pieces_free(&assembler->early);
	g_free(assembler);
}

struct misuses *assembler_misuses(struct assembler *assembler)
{
	return &assembler->misuses;
}

size_t assembler_bytes(const struct assembler *assembler)
{
	return assembler->bytes;
}

static struct pending_list *list_of(struct assembler *assembler, const struct pending *pending)
{
	return pending->ended ? &assembler->ended : &assembler->open;
}

/* Emitting */

static void count(struct assembler *assembler, enum ledger_row row, int64_t amount)
{
	assembler->change->row[row] += amount;
}

/* Adds what the span's event says to what came before it. */
static void add_lines(struct pending *pending, const struct span_data *lines, int64_t later)
{
	for (size_t i = 0; i < lines->annotation_count; i++)
		pending_annotate(pending, lines->annotations[i].time + later, lines->annotations[i].value);
	for (size_t i = 0; i < lines->tag_count; i++)
		pending_tag(pending, &lines->tags[i]);
}

/* The tag of a span whose events have all come, and of which something is missing all the same. */
static struct tag note_cut(struct assembler *assembler)
{
	static const char what[] = "a part of its annotations, tags and links";

	count(assembler, SPANS_TRUNCATED, 1);
	return (struct tag){{TRUNCATED, sizeof(TRUNCATED) - 1}, {what, sizeof(what) - 1}, TAG_TEXT};
}

/* Adds the lines that came without their span's event; returns what they say that no tag is, or NULL. */
static const struct span_more *add_orphans(struct assembler *assembler, struct pending *pending)
{
	struct span_data *lines = &assembler->lines;
	size_t before = pending_annotation_count(pending);
	bool good, is_cut;

	if (!pieces_join(pending, (struct text){"", 0}, 0, &assembler->joined, &is_cut))
		return NULL;
	good = span_data_read_lines(lines,
		(struct text){(const char *)assembler->joined.data, (uint32_t)assembler->joined.size},
		pending->first);
	if (good)
		add_lines(pending, lines, lines->marks.has_time ? lines->marks.time - pending->first : 0);
	if (!good || is_cut || lines->marks.left_out) {
		struct tag tag = note_cut(assembler);

		pending_tag(pending, &tag);
	}
	if (!good || !lines->marks.any)
		return NULL;
	return span_marks_lay_out(&lines->marks, before, pending_annotation_count(pending));
}

/* Emits a span made of classic annotations; or of pieces whose span never came, with unknown duration. */
static void emit_classic(struct assembler *assembler, struct pending *pending)
{
	const struct span_more *more = pending->key.side ? add_orphans(assembler, pending) : NULL;
	struct span span = pending_span(pending, &assembler->memory), half;

	span.more = more;
	if (!more && pending_span_split(&span, &assembler->memory, &half)) {
		count(assembler, SPANS_MADE, 1);
		assembler->emit(assembler->data, &half);
	}
	count(assembler, SPANS_PENDING, -1);
	assembler->emit(assembler->data, &span);
}

/* Puts a span that is new into table and list. */
static void put_in(struct assembler *assembler, struct pending *pending)
{
	g_hash_table_insert(assembler->pending, &pending->key, pending);
	TAILQ_INSERT_TAIL(list_of(assembler, pending), pending, link);
	assembler->bytes += pending_bytes(pending);
	count(assembler, SPANS_MADE, 1);
	count(assembler, SPANS_PENDING, 1);
}

/* Removes it from table and list. */
static void take_out(struct assembler *assembler, struct pending *pending)
{
	g_hash_table_remove(assembler->pending, &pending->key);
	TAILQ_REMOVE(list_of(assembler, pending), pending, link);
	assembler->bytes -= pending_bytes(pending);
}

static void emit_pending(struct assembler *assembler, struct pending *pending)
{
	take_out(assembler, pending);
	if (!pending->ended)
		count(assembler, SPANS_CUT_SHORT, 1);
	if (pending->key.side)
		early_pieces_add(&assembler->early, &pending->key, pending->pieces);
	emit_classic(assembler, pending);
	pending_destroy(pending);
}

static void emit_due(struct assembler *assembler, struct pending_list *list, int64_t now)
{
	struct pending *first;

	while ((first = TAILQ_FIRST(list)) && first->deadline <= now)
		emit_pending(assembler, first);
}

void assembler_expire(struct assembler *assembler, int64_t now)
{
	emit_due(assembler, &assembler->ended, now);
	emit_due(assembler, &assembler->open, now);
}

void assembler_flush(struct assembler *assembler)
{
	assembler_expire(assembler, INT64_MAX);
}

/* Memory is short: emits spans that have ended first, then those that were silent longest. */
static void shed(struct assembler *assembler)
{
	struct pending *victim;

	while (assembler->bytes > assembler->limits.max_bytes &&
		((victim = TAILQ_FIRST(&assembler->ended)) || (victim = TAILQ_FIRST(&assembler->open))))
		emit_pending(assembler, victim);
}

static void wait_until_at_most(struct pending_list *list, int64_t latest)
{
	struct pending *pending;

	TAILQ_FOREACH(pending, list, link)
	pending->deadline = MIN(pending->deadline, latest);
}

/* No span waits longer than one that comes now, or those behind it in its list would, too. */
static void keep_to_limits(struct assembler *assembler, int64_t now)
{
	wait_until_at_most(&assembler->ended, now + assembler->limits.grace_ns);
	wait_until_at_most(&assembler->open, now + assembler->limits.linger_ns);
	shed(assembler);
}

void assembler_configure(struct assembler *assembler, const struct assembler_limits *limits, int64_t now)
{
	assembler->limits = *limits;
	keep_to_limits(assembler, now);
}

/* Saving and loading */

void assembler_save(const struct assembler *assembler, int64_t now, struct buffer *out)
{
	const struct pending_list *lists[] = {&assembler->ended, &assembler->open};
	const struct pending *pending;

	pack_u32(out, g_hash_table_size(assembler->pending));
	for (int i = 0; i < 2; i++)
		TAILQ_FOREACH(pending, lists[i], link)
	pending_save(pending, now, out);
}

/* Reads all of them before adding one: damaged data must not be loaded in part. */
bool assembler_load(struct assembler *assembler, struct unpacker *from, int64_t now)
{
	g_autoptr(GPtrArray) loaded = g_ptr_array_new();
	uint32_t number = unpack_u32(from);

	while (loaded->len < number && !from->failed) {
		struct pending *pending = pending_load(from, now);

		if (pending)
			g_ptr_array_add(loaded, pending);
	}
	for (guint i = 0; i < loaded->len; i++) {
		struct pending *pending = g_ptr_array_index(loaded, i);

		if (from->failed || g_hash_table_contains(assembler->pending, &pending->key)) {
			pending_destroy(pending);
			continue;
		}
		put_in(assembler, pending);
	}
	keep_to_limits(assembler, now);
	assembler->resumed = from->failed ? 0 : RESUMES;
	return !from->failed;
}

/* Collecting */

static struct pending *find_or_create(
	struct assembler *assembler, const struct pending_key *key, const struct event *event, int64_t at)
{
	struct pending *pending = g_hash_table_lookup(assembler->pending, key);

	if (pending)
		return pending;
	pending = pending_create(key);
	pending->parent_id = event->parent_id;
	pending->name = pending_keep(pending, event->name);
	pending->first = pending->last = at;
	put_in(assembler, pending);
	return pending;
}

/*
 * Adds what a later event may know and the first did not. @local is that of a piece; a classic event has an
 * address as text.
 */
static void complete(
	struct pending *pending, const struct event *event, const struct endpoint *local, int64_t at)
{
	if (local)
		pending->local = *local;
	if (!pending->parent_id)
		pending->parent_id = event->parent_id;
	if (!pending->name.size && event->name.size)
		pending->name = pending_keep(pending, event->name);
	if (!local && !pending->local.address_size)
		endpoint_set_address(&pending->local, event->ip);
	if (!local && !pending->local.port)
		pending->local.port = (uint16_t)event->port;
	pending->first = MIN(pending->first, at);
	pending->last = MAX(pending->last, at);
}

/* Moves it to the place of its new deadline. */
static void touch(struct assembler *assembler, struct pending *pending, bool ends, int64_t now)
{
	if (pending->ended)
		return;
	TAILQ_REMOVE(&assembler->open, pending, link);
	pending->ended = ends;
	pending->deadline = now + (ends ? assembler->limits.grace_ns : assembler->limits.linger_ns);
	TAILQ_INSERT_TAIL(list_of(assembler, pending), pending, link);
}

/* What one event adds to a pending span. */
struct part {
	struct pending_key key;       /* of that span */
	const struct endpoint *local; /* NULL: classic events have it in their fields */
	int64_t at;                   /* ns since the epoch */
	bool annotates;               /* rather than tags */
	bool ends;                    /* the span, with this annotation */
	struct tag tag;               /* of an annotation just the value, and of lines too: */
	bool lines;                   /* of the span's text */
	struct piece_key piece;       /* which ones */
};

static void gather(
	struct assembler *assembler, const struct event *event, const struct part *part, int64_t now)
{
	struct pending *pending = find_or_create(assembler, &part->key, event, part->at);
	size_t before = pending_bytes(pending);

	complete(pending, event, part->local, part->at);
	if (part->annotates)
		pending_annotate(pending, part->at, part->tag.value);
	else if (part->lines)
		pieces_keep(pending, &part->piece, part->tag.value);
	else
		pending_tag(pending, &part->tag);
	pending->pieces++;
	assembler->bytes += pending_bytes(pending) - before;
	touch(assembler, pending, part->ends, now);
	if (pending_bytes(pending) > PENDING_MAX)
		emit_pending(assembler, pending);
	else
		shed(assembler);
}

static void take_classic(struct assembler *assembler, const struct event *event, int64_t now)
{
	struct part part = {
		.key = {0, event->trace_id, event->span_id, 0, 0, event->service},
		.at = event->time,
		.annotates = event->type == EVENT_TIMESTAMP,
		.ends = span_event_ends(event),
		.tag = {event->key, event->value, TAG_TEXT},
	};
	char number[24];

	/* int16_t in the classic API: a port above 32767 is negative */
	if (event->port < INT16_MIN || event->port > UINT16_MAX) {
		count(assembler, EVENTS_REJECTED_MALFORMED, 1);
		misuse_note(&assembler->misuses, MISUSE_MALFORMED, event, event->service, event->name,
			"its port is %" PRId64, event->port);
		return;
	}
	if (event->type == EVENT_KEYVAL_INTEGER) {
		part.tag.value.data = number;
		part.tag.value.size =
			(uint32_t)g_snprintf(number, sizeof(number), "%" G_GINT64_FORMAT, event->number);
		part.tag.type = TAG_INT;
	}
	count(assembler, EVENTS_IN_SPANS, 1);
	gather(assembler, event, &part, now);
}

static struct pending_key piece_key(const struct event *event, const struct span_head *head)
{
	unsigned side = 1 + ((unsigned)head->kind | (head->shared ? SIDE_SHARED : 0));

	return (struct pending_key){
		head->trace_id_high, event->trace_id, event->span_id, side, event->user, head->local.service};
}

static void take_piece(struct assembler *assembler, const struct event *event, int64_t now)
{
	uint64_t at = event->type == EVENT_ANNOTATION ? event->piece_time : event->clock;
	struct span_head head;
	struct part part;

	if (!span_head_read(&head, event->head, NULL)) {
		count(assembler, EVENTS_REJECTED_MALFORMED, 1);
		misuse_note(&assembler->misuses, MISUSE_MALFORMED, event, (struct text){0}, event->name,
			"one of its annotations or tags has no head line");
		return;
	}
	if (!span_event_clock_in_range(event, at)) {
		count(assembler, EVENTS_REJECTED_TIME, 1);
		misuse_note(&assembler->misuses, MISUSE_TIME, event, head.local.service, event->name,
			"has an annotation at a time %.3f s after it was recorded",
			span_event_lead(event, at));
		return;
	}
	count(assembler, EVENTS_IN_SPANS, 1);
	part = (struct part){
		.key = piece_key(event, &head),
		.local = &head.local,
		.at = span_event_since_epoch(event, at),
		.annotates = event->type == EVENT_ANNOTATION,
	};
	part.lines = piece_key_read(&part.piece, event) && span_event_clock_in_range(event, part.piece.start);
	if (part.lines) {
		part.at = span_event_since_epoch(event, part.piece.start);
		part.tag.value = event->value;
	} else {
		tag_read(&part.tag, event->key, event->value);
	}
	gather(assembler, event, &part, now);
}

/* How many pieces of the current span's have not come: of those it has, so many @came. Those of a span that
 * began before the assembler did may have been emitted early, which nobody knows any more. */
static uint64_t missing_pieces(
	struct assembler *assembler, const struct event *event, const struct pending_key *key, uint64_t came)
{
	uint64_t all = assembler->lines.pieces;

	if (came < all)
		came += early_pieces_take(&assembler->early, key);
	return all > came && event->start >= assembler->resumed ? all - came : 0;
}

/* The tag that says so; its text is the assembler's. */
static struct tag note_missing(struct assembler *assembler, const struct event *event, uint64_t missing)
{
	const struct span_data *lines = &assembler->lines;
	int size = g_snprintf(assembler->missing, sizeof(assembler->missing),
		"%" PRIu64 " of %" PRIu64 " annotations and tags", missing, lines->pieces);

	count(assembler, SPANS_TRUNCATED, 1);
	misuse_note(&assembler->misuses, MISUSE_TRUNCATED, event, lines->head->local.service, event->name,
		"%" PRIu64 " of the %" PRIu64, missing, lines->pieces);
	return (struct tag){
		{TRUNCATED, sizeof(TRUNCATED) - 1}, {assembler->missing, (uint32_t)size}, TAG_TEXT};
}

/* Reads the event again with the lines that came before it, of which so many are missing; returns how many
 * pieces cannot be read, and whether something of the others is left out. */
static uint64_t read_joined(struct assembler *assembler, const struct event *event,
	const struct pending *pending, uint64_t missing, struct span *span, bool *is_cut)
{
	struct buffer *joined = &assembler->joined;
	size_t pieces =
		pieces_join(pending, event->value, missing ? assembler->lines.pieces : 0, joined, is_cut);

	if (!pieces || span_event_read_joined(&assembler->lines, event,
			       (struct text){(const char *)joined->data, (uint32_t)joined->size},
			       span) == EVENTS_IN_SPANS)
		return 0;
	span_event_read(&assembler->lines, event, span); /* as it was */
	return pieces;
}

/*
 * Adds the span's own lines to its earlier pieces, in the memory of the pending span, which is then emitted.
 */
static void emit_with_pieces(
	struct assembler *assembler, const struct event *event, struct pending *pending, struct span *span)
{
	const struct span_data *lines = &assembler->lines;
	size_t before = pending_annotation_count(pending);
	uint64_t missing;
	bool is_cut;

	take_out(assembler, pending);
	missing = missing_pieces(assembler, event, &pending->key, pending->pieces);
	missing += read_joined(assembler, event, pending, missing, span, &is_cut);
	add_lines(pending, lines, 0);
	if (missing || is_cut || lines->marks.left_out) {
		struct tag tag = missing ? note_missing(assembler, event, missing) : note_cut(assembler);

		pending_tag(pending, &tag);
	}
	pending_span_lines(pending, &assembler->memory, span);
	if (lines->marks.any)
		span->more = span_marks_lay_out(&assembler->lines.marks, before, span->annotation_count);
	count(assembler, SPANS_PENDING, -1);
	assembler->emit(assembler->data, span);
	pending_destroy(pending);
}

/* Emits a span that has pieces, or lines that belong to none that is there. */
static void take_span_of_pieces(struct assembler *assembler, const struct event *event, struct span *span)
{
	struct span_data *lines = &assembler->lines;
	struct pending_key key = piece_key(event, lines->head);
	struct pending *pending = g_hash_table_lookup(assembler->pending, &key);
	uint64_t missing;

	if (pending) {
		emit_with_pieces(assembler, event, pending, span);
		return;
	}
	missing = missing_pieces(assembler, event, &key, 0);
	if (missing || lines->marks.left_out)
		lines->tags[span->tag_count++] =
			missing ? note_missing(assembler, event, missing) : note_cut(assembler);
	count(assembler, SPANS_MADE, 1);
	assembler->emit(assembler->data, span);
}

static void take_span(struct assembler *assembler, const struct event *event)
{
	struct span span;
	enum ledger_row row = span_event_read(&assembler->lines, event, &span);

	count(assembler, row, 1);
	if (row != EVENTS_IN_SPANS) {
		span_event_explain(&assembler->lines, event, row, &assembler->misuses);
	} else if (assembler->lines.pieces || assembler->lines.marks.left_out) {
		take_span_of_pieces(assembler, event, &span);
	} else {
		count(assembler, SPANS_MADE, 1);
		assembler->emit(assembler->data, &span);
	}
}

void assembler_take(struct assembler *assembler, const struct event *event, int64_t now)
{
	if (assembler->resumed == RESUMES)
		assembler->resumed = MIN(event->clock, (uint64_t)now); /* it may be a program's own clock */
	if (event->time <= 0 || event->time > EVENT_TIME_MAX) {
		count(assembler, EVENTS_REJECTED_TIME, 1);
		misuse_note(&assembler->misuses, MISUSE_TIME, event, event->service, event->name,
			"was recorded at a time that no clock shows");
		return;
	}
	if (!event->trace_id || !event->span_id) {
		count(assembler, EVENTS_REJECTED_ID, 1);
		misuse_note(&assembler->misuses, MISUSE_ID, event, event->service, event->name, "%s",
			event->trace_id ? "span id 0" : "trace id 0");
		return;
	}
	switch (event->type) {
	case EVENT_SPAN:
		take_span(assembler, event);
		break;
	case EVENT_ANNOTATION:
	case EVENT_TAG:
		take_piece(assembler, event, now);
		break;
	default:
		take_classic(assembler, event, now);
	}
}
