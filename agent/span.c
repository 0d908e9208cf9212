/* SPDX-License-Identifier: BSD-2-Clause */
#include "span.h"

#include <pthread.h>
#include <string.h>
#include <sys/random.h>

#include <glib.h>

#include "clock.h"
#include "endpoint.h"
#include "pending.h"
#include "pendingsave.h"
#include "spandata.h"
#include "spanevent.h"

/* A pending span larger than this is emitted as it is, and goes on as another piece. */
#define PENDING_MAX (1024 * 1024)

/* The year 2096: far enough, and sums of two times cannot overflow. */
#define EVENT_TIME_MAX INT64_C(4000000000000000000)

/* Pending spans by deadline: those that ended wait for their grace, the others for linger; both in order of
 * arrival. */
struct list {
	struct pending *first, *last;
};

struct assembler {
	struct assembler_limits limits;
	struct ledger *change;
	void (*emit)(void *data, const struct span *span);
	void *data;
	GHashTable *pending; /* by key */
	struct list open, ended;
	size_t bytes;
	struct span_data lines;          /* of the blkin:span event at hand */
	struct buffer annotations, tags; /* of the span that is emitted, when it comes from pending */
};

/* Two odd numbers that no program knows: else it could choose ids that all fall into one place of the table.
 */
static uint64_t hash_secret[2];

static void make_secret(void)
{
	if (getrandom(hash_secret, sizeof(hash_secret), 0) != (ssize_t)sizeof(hash_secret))
		hash_secret[0] = (uint64_t)clock_wall(), hash_secret[1] = (uint64_t)clock_monotonic();
	hash_secret[0] |= 1;
	hash_secret[1] |= 1;
}

/* Both halves of a product with the secret, folded: each bit of the word moves about half of the result's. */
static uint64_t mix(uint64_t hash, uint64_t word)
{
	unsigned __int128 product = (unsigned __int128)(hash ^ word ^ hash_secret[0]) * hash_secret[1];

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static guint key_hash(gconstpointer data)
{
	const struct pending_key *key = data;
	uint64_t hash = mix(mix(mix(key->side, key->trace_id_high), key->trace_id), key->span_id), word = 0;

	for (uint32_t i = 0; i < key->service.size; i++) {
		word = word << 8 | (unsigned char)key->service.data[i];
		if (i % 8 == 7)
			hash = mix(hash, word);
	}
	hash = mix(hash, word ^ key->service.size);
	return (guint)(hash ^ hash >> 32);
}

static gboolean key_equal(gconstpointer left, gconstpointer right)
{
	const struct pending_key *a = left, *b = right;

	return a->span_id == b->span_id && a->trace_id == b->trace_id &&
	       a->trace_id_high == b->trace_id_high && a->side == b->side &&
	       a->service.size == b->service.size &&
	       memcmp(a->service.data, b->service.data, a->service.size) == 0;
}

struct assembler *assembler_create(const struct assembler_limits *limits, struct ledger *change,
	void (*emit)(void *data, const struct span *span), void *data)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct assembler *assembler = g_new0(struct assembler, 1);

	assembler->limits = *limits;
	assembler->change = change;
	assembler->emit = emit;
	assembler->data = data;
	pthread_once(&once, make_secret);
	assembler->pending = g_hash_table_new(key_hash, key_equal);
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
	buffer_free(&assembler->annotations);
	buffer_free(&assembler->tags);
	g_free(assembler);
}

size_t assembler_bytes(const struct assembler *assembler)
{
	return assembler->bytes;
}

/* The lists */

static struct list *list_of(struct assembler *assembler, const struct pending *pending)
{
	return pending->ended ? &assembler->ended : &assembler->open;
}

static void list_append(struct list *list, struct pending *pending)
{
	pending->previous = list->last;
	pending->next = NULL;
	if (list->last)
		list->last->next = pending;
	else
		list->first = pending;
	list->last = pending;
}

static void list_remove(struct list *list, struct pending *pending)
{
	if (pending->previous)
		pending->previous->next = pending->next;
	else
		list->first = pending->next;
	if (pending->next)
		pending->next->previous = pending->previous;
	else
		list->last = pending->previous;
}

/* Emitting */

static void count(struct assembler *assembler, enum ledger_row row, int64_t amount)
{
	assembler->change->row[row] += amount;
}

static bool is_core(struct text value, char side)
{
	return value.size == 2 && ((value.data[0] == side && (value.data[1] == 's' || value.data[1] == 'r')));
}

static const struct annotation *collect_annotations(
	struct assembler *assembler, const struct pending *pending)
{
	const struct pending_annotation *from = (const void *)pending->annotations.data;

	assembler->annotations.size = 0;
	for (size_t i = 0; i < pending_annotation_count(pending); i++) {
		struct annotation annotation = {from[i].time / 1000, pending_text(pending, from[i].value)};

		buffer_put(&assembler->annotations, &annotation, sizeof(annotation));
	}
	return (const struct annotation *)assembler->annotations.data;
}

static const struct tag *collect_tags(struct assembler *assembler, const struct pending *pending)
{
	const struct pending_tag *from = (const void *)pending->tags.data;

	assembler->tags.size = 0;
	for (size_t i = 0; i < pending_tag_count(pending); i++) {
		struct tag tag = {pending_text(pending, from[i].key), pending_text(pending, from[i].value)};

		buffer_put(&assembler->tags, &tag, sizeof(tag));
	}
	return (const struct tag *)assembler->tags.data;
}

/*
 * Client and server of one service under one span id came together. A log entry carries one span only, so the
 * server's half goes in one of its own: its sr and ss move to the front of the annotations. Returns how many
 * they are.
 */
static size_t split_server_half(struct annotation *annotations, size_t annotation_count)
{
	size_t servers = 0;
	bool client = false;

	for (size_t i = 0; i < annotation_count; i++)
		client |= is_core(annotations[i].value, 'c');
	for (size_t i = 0; client && i < annotation_count; i++) {
		if (is_core(annotations[i].value, 's')) {
			struct annotation server = annotations[i];

			memmove(annotations + servers + 1, annotations + servers,
				(i - servers) * sizeof(server));
			annotations[servers++] = server;
		}
	}
	return servers;
}

static void emit_server_half(struct assembler *assembler, const struct span *whole, size_t servers)
{
	struct span half = *whole;

	half.annotation_count = servers;
	half.tag_count = 0;
	half.shared = true;
	count(assembler, SPANS_MADE, 1);
	count(assembler, SPANS_QUEUED, 1);
	assembler->emit(assembler->data, &half);
}

/* Emits a span made of classic annotations; or of pieces whose span never came, and so of unknown duration.
 */
static void emit_classic(struct assembler *assembler, const struct pending *pending)
{
	struct span span = {
		.trace_id_high = pending->key.trace_id_high,
		.trace_id = pending->key.trace_id,
		.id = pending->key.span_id,
		.parent_id = pending->parent_id,
		.kind = pending->key.side ? (enum span_kind)((pending->key.side - 1) & SIDE_KIND)
					  : SPAN_LOCAL,
		.shared = pending->key.side && ((pending->key.side - 1) & SIDE_SHARED),
		.timestamp = pending->first / 1000,
		.duration = pending->key.side ? 0 : MAX(1, pending->last / 1000 - pending->first / 1000),
		.name = pending_text(pending, pending->name),
		.local = pending->local,
		.annotations = collect_annotations(assembler, pending),
		.annotation_count = pending_annotation_count(pending),
		.tags = collect_tags(assembler, pending),
		.tag_count = pending_tag_count(pending),
		.last_event = pending->last,
	};
	size_t servers =
		split_server_half((struct annotation *)assembler->annotations.data, span.annotation_count);

	span.local.service = pending->key.service;
	if (servers) {
		emit_server_half(assembler, &span, servers);
		span.annotations += servers;
		span.annotation_count -= servers;
	}
	count(assembler, SPANS_PENDING, -1);
	count(assembler, SPANS_QUEUED, 1);
	assembler->emit(assembler->data, &span);
}

/* Unlinks it from table and list. */
static void take_out(struct assembler *assembler, struct pending *pending)
{
	g_hash_table_remove(assembler->pending, &pending->key);
	list_remove(list_of(assembler, pending), pending);
	assembler->bytes -= pending_bytes(pending);
}

static void emit_pending(struct assembler *assembler, struct pending *pending)
{
	take_out(assembler, pending);
	if (!pending->ended)
		count(assembler, SPANS_CUT_SHORT, 1);
	emit_classic(assembler, pending);
	pending_destroy(pending);
}

void assembler_expire(struct assembler *assembler, int64_t now)
{
	while (assembler->ended.first && assembler->ended.first->deadline <= now)
		emit_pending(assembler, assembler->ended.first);
	while (assembler->open.first && assembler->open.first->deadline <= now)
		emit_pending(assembler, assembler->open.first);
}

void assembler_flush(struct assembler *assembler)
{
	assembler_expire(assembler, INT64_MAX);
}

/* Memory is short: what ended goes first, then what was silent longest. */
static void shed(struct assembler *assembler)
{
	while (assembler->bytes > assembler->limits.max_bytes) {
		struct pending *victim =
			assembler->ended.first ? assembler->ended.first : assembler->open.first;

		if (!victim)
			return;
		emit_pending(assembler, victim);
	}
}

void assembler_configure(struct assembler *assembler, const struct assembler_limits *limits)
{
	assembler->limits = *limits;
	shed(assembler);
}

/* Keeping */

void assembler_save(const struct assembler *assembler, int64_t now, struct buffer *out)
{
	const struct list *lists[] = {&assembler->ended, &assembler->open};

	pack_u32(out, g_hash_table_size(assembler->pending));
	for (int i = 0; i < 2; i++)
		for (const struct pending *pending = lists[i]->first; pending; pending = pending->next)
			pending_save(pending, now, out);
}

/* All of them are read before one is taken: what is damaged must not come in part. */
bool assembler_load(struct assembler *assembler, struct unpacker from, int64_t now)
{
	g_autoptr(GPtrArray) loaded = g_ptr_array_new();
	uint32_t number = unpack_u32(&from);

	while (loaded->len < number && !from.failed) {
		struct pending *pending = pending_load(&from, now);

		if (pending)
			g_ptr_array_add(loaded, pending);
	}
	for (guint i = 0; i < loaded->len; i++) {
		struct pending *pending = g_ptr_array_index(loaded, i);

		if (from.failed || g_hash_table_contains(assembler->pending, &pending->key)) {
			pending_destroy(pending);
			continue;
		}
		g_hash_table_insert(assembler->pending, &pending->key, pending);
		list_append(list_of(assembler, pending), pending);
		assembler->bytes += pending_bytes(pending);
		count(assembler, SPANS_MADE, 1);
		count(assembler, SPANS_PENDING, 1);
	}
	shed(assembler);
	return !from.failed;
}

/* Gathering */

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
	g_hash_table_insert(assembler->pending, &pending->key, pending);
	list_append(&assembler->open, pending);
	assembler->bytes += pending_bytes(pending);
	count(assembler, SPANS_MADE, 1);
	count(assembler, SPANS_PENDING, 1);
	return pending;
}

/* What a later event may know that the first did not. @local: of a piece; a classic event has an address as
 * text. */
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

/* Puts it where its new deadline belongs. */
static void touch(struct assembler *assembler, struct pending *pending, bool ends, int64_t now)
{
	if (pending->ended)
		return;
	list_remove(&assembler->open, pending);
	pending->ended = ends;
	pending->deadline = now + (ends ? assembler->limits.grace_ns : assembler->limits.linger_ns);
	list_append(list_of(assembler, pending), pending);
}

static void gather(struct assembler *assembler, const struct event *event, const struct pending_key *key,
	const struct endpoint *local, int64_t at, struct text tag_value, int64_t now)
{
	struct pending *pending = find_or_create(assembler, key, event, at);
	size_t before = pending_bytes(pending);
	bool ends = event->type == EVENT_TIMESTAMP && event->value.size == 2 &&
		    (memcmp(event->value.data, "cr", 2) == 0 || memcmp(event->value.data, "ss", 2) == 0);

	complete(pending, event, local, at);
	if (event->type == EVENT_TIMESTAMP || event->type == EVENT_ANNOTATION)
		pending_annotate(pending, at, event->value);
	else
		pending_tag(pending, event->key, tag_value);
	pending->pieces++;
	assembler->bytes += pending_bytes(pending) - before;
	touch(assembler, pending, ends, now);
	if (pending_bytes(pending) > PENDING_MAX)
		emit_pending(assembler, pending);
	else
		shed(assembler);
}

static void reject(struct assembler *assembler, enum ledger_row row)
{
	count(assembler, row, 1);
}

static void take_classic(struct assembler *assembler, const struct event *event, int64_t now)
{
	struct pending_key key = {0, event->trace_id, event->span_id, 0, event->service};
	struct text value = event->value;
	char number[24];

	/* int16_t in the classic API: a port above 32767 arrives negative */
	if (event->port < INT16_MIN || event->port > UINT16_MAX) {
		reject(assembler, EVENTS_REJECTED_MALFORMED);
		return;
	}
	if (event->type == EVENT_KEYVAL_INTEGER) {
		value.data = number;
		value.size = (uint32_t)g_snprintf(number, sizeof(number), "%" G_GINT64_FORMAT, event->number);
	}
	count(assembler, EVENTS_IN_SPANS, 1);
	gather(assembler, event, &key, NULL, event->time, value, now);
}

static struct pending_key piece_key(const struct event *event, const struct span_head *head)
{
	unsigned side = 1 + ((unsigned)head->kind | (head->shared ? SIDE_SHARED : 0));

	return (struct pending_key){
		head->trace_id_high, event->trace_id, event->span_id, side, head->local.service};
}

static void take_piece(struct assembler *assembler, const struct event *event, int64_t now)
{
	uint64_t at = event->type == EVENT_ANNOTATION ? event->piece_time : event->clock;
	struct span_head head;
	struct pending_key key;

	if (!span_head_read(&head, event->head, NULL)) {
		reject(assembler, EVENTS_REJECTED_MALFORMED);
		return;
	}
	if (!span_event_clock_in_range(event, at)) {
		reject(assembler, EVENTS_REJECTED_TIME);
		return;
	}
	count(assembler, EVENTS_IN_SPANS, 1);
	key = piece_key(event, &head);
	gather(assembler, event, &key, &head.local, span_event_since_epoch(event, at), event->value, now);
}

/* The pieces that went before join the span's own lines: in the pending span's memory, which then is emitted
 * whole. */
static void emit_with_pieces(struct assembler *assembler, struct pending *pending, struct span *span)
{
	const struct span_data *lines = &assembler->lines;

	take_out(assembler, pending);
	for (size_t i = 0; i < lines->annotation_count; i++)
		pending_annotate(pending, lines->annotations[i].time * 1000, lines->annotations[i].value);
	for (size_t i = 0; i < lines->tag_count; i++)
		pending_tag(pending, lines->tags[i].key, lines->tags[i].value);
	span->annotations = collect_annotations(assembler, pending);
	span->annotation_count = pending_annotation_count(pending);
	span->tags = collect_tags(assembler, pending);
	span->tag_count = pending_tag_count(pending);
	count(assembler, SPANS_PENDING, -1);
	count(assembler, SPANS_QUEUED, 1);
	assembler->emit(assembler->data, span);
	pending_destroy(pending);
}

static void take_span(struct assembler *assembler, const struct event *event)
{
	struct pending *pending = NULL;
	struct span span;
	enum ledger_row row = span_event_read(&assembler->lines, event, &span);

	count(assembler, row, 1);
	if (row != EVENTS_IN_SPANS)
		return;
	if (assembler->lines.pieces) {
		struct pending_key key = piece_key(event, &assembler->lines.head);

		pending = g_hash_table_lookup(assembler->pending, &key);
	}
	if (pending) {
		emit_with_pieces(assembler, pending, &span);
		return;
	}
	count(assembler, SPANS_MADE, 1);
	count(assembler, SPANS_QUEUED, 1);
	assembler->emit(assembler->data, &span);
}

void assembler_take(struct assembler *assembler, const struct event *event, int64_t now)
{
	if (event->time <= 0 || event->time > EVENT_TIME_MAX) {
		reject(assembler, EVENTS_REJECTED_TIME);
		return;
	}
	if (!event->trace_id || !event->span_id) {
		reject(assembler, EVENTS_REJECTED_ID);
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
