/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/overlap.h"

#include <string.h>

#include <babeltrace2/babeltrace.h>
#include <glib.h>

#include "base/log.h"
#include "reader/decode/fingerprint.h"

/* What is recorded in a span's event is the span's own. */
#define WHOLE_SPAN "blkin:span"

/* An event, as it is noted. */
struct note {
	uint64_t what; /* its fingerprint */
	uint64_t clock;
};

/* What two sessions recorded at the same time. */
struct both {
	uint64_t created;     /* when the first of them was, ns since the epoch */
	uint64_t from, until; /* when they did; 0: never, and not known yet */
	GArray *notes;        /* of struct note */
	guint oldest;         /* the index of it: 0 unless there are so many as there may be */
	uint64_t beyond;      /* how many were noted no more */
};

struct overlap {
	uint8_t key[SIPHASH_KEY_SIZE];
	struct buffer scratch;
	struct both before; /* the session at hand, and the one before it */
	guint32 *unused;    /* of those notes, which are in order: for each up to it the last one that no copy
			       was met of, counted from 1; 0: none */
	struct both after;  /* the session at hand, and the one after it, */
	bool again;         /* which may have recorded since before it was last about to */
	uint64_t copies;
};

static void both_clear(struct both *both)
{
	g_array_set_size(both->notes, 0);
	both->created = both->from = both->until = both->beyond = 0;
	both->oldest = 0;
}

static GArray *notes_create(void)
{
	return g_array_new(FALSE, FALSE, sizeof(struct note));
}

static const struct note *note_at(const struct both *both, guint index)
{
	return &g_array_index(both->notes, struct note, index);
}

static void make_key(uint8_t *key)
{
	for (size_t i = 0; i < SIPHASH_KEY_SIZE; i += sizeof(guint32)) {
		guint32 word = g_random_int();

		memcpy(key + i, &word, sizeof(word));
	}
}

struct overlap *overlap_create(void)
{
	struct overlap *overlap = g_new0(struct overlap, 1);

	make_key(overlap->key);
	overlap->before.notes = notes_create();
	overlap->after.notes = notes_create();
	return overlap;
}

void overlap_destroy(struct overlap *overlap)
{
	g_array_unref(overlap->before.notes);
	g_array_unref(overlap->after.notes);
	g_free(overlap->unused);
	buffer_free(&overlap->scratch);
	g_free(overlap);
}

/* Times */

void overlap_begin(struct overlap *overlap, uint64_t created, int64_t now)
{
	overlap->again = overlap->after.from != 0;
	if (overlap->again)
		return;
	overlap->after.created = created;
	overlap->after.from = (uint64_t)now;
}

void overlap_cancel(struct overlap *overlap)
{
	if (!overlap->again)
		both_clear(&overlap->after);
}

int64_t overlap_abandon(struct overlap *overlap)
{
	int64_t alone = (int64_t)overlap->after.until;

	both_clear(&overlap->after);
	return alone;
}

void overlap_end(struct overlap *overlap, int64_t now)
{
	if (overlap->after.from)
		overlap->after.until = (uint64_t)now;
}

bool overlap_has_begun(const struct overlap *overlap)
{
	return overlap->after.from != 0;
}

bool overlap_has_ended(const struct overlap *overlap)
{
	return overlap->after.until != 0;
}

bool overlap_forget(struct overlap *overlap)
{
	if (!overlap->before.from)
		return false;
	g_clear_pointer(&overlap->unused, g_free);
	both_clear(&overlap->before);
	g_array_unref(overlap->before.notes); /* and its memory */
	overlap->before.notes = notes_create();
	return true;
}

bool overlap_is_open(const struct overlap *overlap)
{
	return overlap->before.from || overlap->after.from;
}

uint64_t overlap_copies(const struct overlap *overlap)
{
	return overlap->copies;
}

/* Notes */

static void add_note(struct both *both, const struct note *note)
{
	if (both->notes->len < OVERLAP_NOTES_MAX) {
		g_array_append_val(both->notes, *note);
		return;
	}
	g_array_index(both->notes, struct note, both->oldest) = *note;
	both->oldest = (both->oldest + 1) % OVERLAP_NOTES_MAX;
	both->beyond++;
}

static gint compare(gconstpointer left_data, gconstpointer right_data)
{
	const struct note *left = left_data, *right = right_data;

	if (left->what != right->what)
		return left->what < right->what ? -1 : 1;
	return left->clock < right->clock ? -1 : left->clock > right->clock;
}

/* Puts the notes in order, so that copies are found; they say how long the session recorded. */
static void prepare(struct overlap *overlap)
{
	struct both *before = &overlap->before;
	GArray *notes = before->notes;

	for (guint i = 0; i < notes->len; i++)
		before->until = MAX(before->until, note_at(before, i)->clock);
	g_array_sort(notes, compare);
	g_free(overlap->unused);
	overlap->unused = g_new(guint32, notes->len + 1);
	for (guint i = 0; i <= notes->len; i++)
		overlap->unused[i] = i;
}

void overlap_turn(struct overlap *overlap, int64_t now)
{
	struct both ended = overlap->before;

	overlap->before = overlap->after;
	overlap->after = ended;
	both_clear(&overlap->after);
	overlap->copies = 0;
	if (!overlap->before.from)
		return;
	if (!overlap->before.until)
		overlap->before.until = (uint64_t)now;
	if (overlap->before.beyond)
		log_warning("so much was recorded while one LTTng session took another one's place that "
			    "%" G_GUINT64_FORMAT " events may come twice",
			overlap->before.beyond);
	prepare(overlap);
}

/* Copies */

/* The number, from 1, of the last note up to number @at that no copy was met of; 0: none. */
static guint last_unused(struct overlap *overlap, guint at)
{
	guint32 *unused = overlap->unused;

	while (unused[at] != at) {
		unused[at] = unused[unused[at]];
		at = unused[at];
	}
	return at;
}

/* How many notes are not behind that. */
static guint count_up_to(const struct both *both, const struct note *note)
{
	guint low = 0, high = both->notes->len;

	while (low < high) {
		guint middle = low + (high - low) / 2;

		if (compare(note_at(both, middle), note) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool are_copies(const struct both *both, guint number, const struct note *of, uint64_t tolerance)
{
	const struct note *note;

	if (!number || number > both->notes->len)
		return false;
	note = note_at(both, number - 1);
	return note->what == of->what &&
	       MAX(note->clock, of->clock) - MIN(note->clock, of->clock) <= tolerance;
}

/* The first copy was recorded just before, or, by a program that started meanwhile, just behind. */
static guint find(struct overlap *overlap, const struct note *copy, uint64_t tolerance)
{
	guint at = count_up_to(&overlap->before, copy), number = last_unused(overlap, at);

	if (are_copies(&overlap->before, number, copy, tolerance))
		return number;
	number = at + 1;
	return are_copies(&overlap->before, number, copy, tolerance) && last_unused(overlap, number) == number
		       ? number
		       : 0;
}

static bool is_whole_span(const bt_message *message)
{
	const bt_event *event = bt_message_event_borrow_event_const(message);
	const char *name = bt_event_class_get_name(bt_event_borrow_class_const(event));

	return name && !strncmp(name, WHOLE_SPAN, strlen(WHOLE_SPAN));
}

/* How far apart its copies may be. */
static uint64_t tolerance_of(const bt_message *message)
{
	return is_whole_span(message) ? UINT64_MAX : OVERLAP_TOLERANCE_NS;
}

/* Whether there may be a note of which it is a copy. */
static bool may_be_copy(const struct both *before, uint64_t clock, uint64_t tolerance)
{
	return clock <= before->until || clock - before->until <= tolerance;
}

static bool take_copy(struct overlap *overlap, const struct note *note, uint64_t tolerance)
{
	guint number = find(overlap, note, tolerance);

	if (!number)
		return false;
	overlap->unused[number] = number - 1;
	overlap->copies++;
	return true;
}

bool overlap_is_copy(
	struct overlap *overlap, const struct stream_key *stream, const bt_message *message, uint64_t clock)
{
	const struct both *before = &overlap->before;
	uint64_t tolerance = before->from ? tolerance_of(message) : 0;
	bool may_be = before->from && clock >= before->from && may_be_copy(before, clock, tolerance);
	bool may_have = overlap->after.from && clock >= overlap->after.from;
	struct note note = {.clock = clock};

	if (!may_be && !may_have)
		return false;
	note.what = fingerprint(overlap->key, stream, message, &overlap->scratch);
	if (may_be && take_copy(overlap, &note, tolerance))
		return true;
	if (may_have)
		add_note(&overlap->after, &note);
	return false;
}

/* Saving */

static void save_times(const struct both *both, struct buffer *out)
{
	pack_u64(out, both->created);
	pack_u64(out, both->from);
	pack_u64(out, both->until);
}

static void load_times(struct both *both, struct unpacker *from)
{
	both->created = unpack_u64(from);
	both->from = unpack_u64(from);
	both->until = unpack_u64(from);
}

/* @unused: as the overlap has it, or NULL: all are. The oldest comes first, to be the first to go again. */
static void save_notes(const struct both *both, const guint32 *unused, struct buffer *out)
{
	struct buffer list = {0};
	guint at = both->oldest;

	for (guint i = 0; i < both->notes->len; i++, at = (at + 1) % OVERLAP_NOTES_MAX) {
		if (unused && unused[at + 1] != at + 1)
			continue;
		pack_u64(&list, note_at(both, at)->what);
		pack_u64(&list, note_at(both, at)->clock);
	}
	pack_bytes(out, list.data, list.size);
	buffer_free(&list);
}

void overlap_save(const struct overlap *overlap, struct buffer *out)
{
	buffer_put(out, overlap->key, sizeof(overlap->key));
	save_times(&overlap->before, out);
	save_notes(&overlap->before, overlap->unused, out);
	save_times(&overlap->after, out);
	save_notes(&overlap->after, NULL, out);
}

static void load_both(struct both *both, struct unpacker *from)
{
	struct unpacker list;

	both_clear(both);
	load_times(both, from);
	list = unpack_bytes(from);
	while (!list.failed && list.at < list.end) {
		struct note note;

		note.what = unpack_u64(&list);
		note.clock = unpack_u64(&list);
		add_note(both, &note);
	}
	from->failed |= list.failed;
}

bool overlap_load(struct overlap *overlap, struct unpacker from)
{
	const uint8_t *key = unpack_run(&from, SIPHASH_KEY_SIZE);

	load_both(&overlap->before, &from);
	load_both(&overlap->after, &from);
	if (from.failed) {
		both_clear(&overlap->before);
		both_clear(&overlap->after);
	} else {
		memcpy(overlap->key, key, SIPHASH_KEY_SIZE);
	}
	prepare(overlap);
	return !from.failed;
}

void overlap_save_times(const struct overlap *overlap, struct buffer *out)
{
	save_times(&overlap->before, out);
	save_times(&overlap->after, out);
}

bool overlap_load_times(struct overlap *overlap, uint64_t created, struct unpacker *from)
{
	for (int i = 0; i < 2; i++) {
		struct both both = {0};

		load_times(&both, from);
		if (from->failed)
			return false;
		if (both.from && both.created == created) {
			overlap->after.created = created;
			overlap->after.from = both.from;
			overlap->after.until = both.until;
		}
	}
	return true;
}
