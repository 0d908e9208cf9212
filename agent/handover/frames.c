/* SPDX-License-Identifier: BSD-2-Clause */
#include "handover/frames.h"

#include "stats/names.h"

static bool unpack_flag(struct unpacker *from)
{
	return unpack_u8(from) != 0;
}

/* Whether all was there, and nothing else. */
static bool is_whole(const struct unpacker *from)
{
	return !from->failed && from->at == from->end;
}

static void pack_rest(struct buffer *out, const struct unpacker *bytes)
{
	pack_bytes(out, bytes->at, (size_t)(bytes->end - bytes->at));
}

void hand_pack(struct buffer *out, const struct hand *hand)
{
	pack_u8(out, hand->at_once);
	for (int i = 0; i < LEDGER_ROWS; i++)
		pack_u64(out, (uint64_t)hand->change.row[i]);
	pack_rest(out, &hand->reached);
	pack_u32(out, items_count(&hand->spans));
	pack_u32(out, (uint32_t)hand->spans.words_size);
	pack_u32(out, items_count(&hand->events));
}

/* Copies @size bytes into @to, which aligns them. */
static bool take(struct unpacker *from, struct buffer *to, size_t size)
{
	const uint8_t *bytes = unpack_run(from, size);

	to->size = 0;
	if (bytes)
		buffer_put(to, bytes, size);
	return bytes != NULL;
}

static bool take_batch(struct unpacker *from, uint32_t count, enum batch_format format, struct batch *items)
{
	const uint8_t *at;
	uint64_t bytes = 0;

	items->format = (uint8_t)format;
	items->count = count;
	if (!take(from, &items->sizes, count * sizeof(uint32_t)) ||
		!take(from, &items->events, count * sizeof(int64_t)))
		return false;
	for (uint32_t i = 0; i < count; i++)
		bytes += batch_sizes(items)[i];
	at = bytes <= (size_t)(from->end - from->at) ? unpack_run(from, bytes) : NULL;
	items->spans = (struct buffer){.data = (uint8_t *)(uintptr_t)at, .size = bytes, .room = bytes};
	return at != NULL;
}

bool hand_unpack(struct unpacker *from, struct hand *hand, struct batch *spans, struct batch *events)
{
	uint32_t span_count, event_count;

	hand->at_once = unpack_flag(from);
	for (int i = 0; i < LEDGER_ROWS; i++)
		hand->change.row[i] = (int64_t)unpack_u64(from);
	hand->reached = unpack_bytes(from);
	span_count = unpack_u32(from);
	hand->spans = (struct items){.batch = spans, .words_size = unpack_u32(from)};
	hand->events = (struct items){.batch = events};
	event_count = unpack_u32(from);
	if (from->failed)
		return false;
	hand->spans.named = unpack_run(from, span_count * sizeof(struct named));
	hand->spans.words = unpack_run(from, hand->spans.words_size);
	return take_batch(from, span_count, BATCH_SPAN_RECORDS, spans) &&
	       take_batch(from, event_count, BATCH_EVENT_RECORDS, events) && is_whole(from);
}

void report_pack(struct buffer *out, const struct report *report)
{
	pack_u8(out, (uint8_t)report->kind);
	pack_u8(out, report->new);
	pack_u8(out, (uint8_t)report->problem.reason);
	pack_text(out, report->session);
	pack_text(out, report->problem.text);
}

bool report_unpack(struct unpacker *from, struct report *report)
{
	uint8_t kind = unpack_u8(from), reason;

	report->kind = kind;
	report->new = unpack_flag(from);
	reason = unpack_u8(from);
	report->problem.reason = reason;
	unpack_text(from, report->session, sizeof(report->session));
	unpack_text(from, report->problem.text, sizeof(report->problem.text));
	return is_whole(from) && kind <= REPORT_IN_PART && reason < REASONS;
}

static void pack_problem(struct buffer *out, const struct problem *problem)
{
	pack_u8(out, (uint8_t)problem->reason);
	pack_text(out, problem->text);
}

static bool unpack_problem(struct unpacker *from, struct problem *problem)
{
	uint8_t reason = unpack_u8(from);

	problem->reason = reason;
	unpack_text(from, problem->text, sizeof(problem->text));
	return reason < REASONS;
}

void omissions_pack(struct buffer *out, const struct omissions *omissions)
{
	pack_problem(out, &omissions->events);
	pack_problem(out, &omissions->kernel);
}

bool omissions_unpack(struct unpacker *from, struct omissions *omissions)
{
	bool known = unpack_problem(from, &omissions->events);

	known &= unpack_problem(from, &omissions->kernel);
	return known && is_whole(from);
}

void buffers_pack(struct buffer *out, const struct user_buffers *buffers)
{
	pack_u8(out, buffers->known);
	pack_u8(out, buffers->heals);
	pack_u8(out, buffers->more);
	pack_u64(out, buffers->other_bytes);
	pack_u32(out, buffers->count);
	for (uint32_t i = 0; i < buffers->count; i++) {
		pack_u64(out, buffers->of[i].user);
		pack_u64(out, buffers->of[i].bytes);
	}
}

bool buffers_unpack(struct unpacker *from, struct user_buffers *buffers)
{
	buffers->known = unpack_flag(from);
	buffers->heals = unpack_flag(from);
	buffers->more = unpack_flag(from);
	buffers->other_bytes = unpack_u64(from);
	buffers->count = unpack_u32(from);
	if (buffers->count > USERBUFFERS_MAX)
		return false;
	for (uint32_t i = 0; i < buffers->count; i++) {
		buffers->of[i].user = unpack_u64(from);
		buffers->of[i].bytes = unpack_u64(from);
	}
	return is_whole(from);
}

void unreadable_pack(struct buffer *out, const struct unreadable *unreadable)
{
	pack_u64(out, unreadable->user);
	pack_u64(out, unreadable->packets);
	pack_text(out, unreadable->error);
}

bool unreadable_unpack(struct unpacker *from, struct unreadable *unreadable)
{
	unreadable->user = unpack_u64(from);
	unreadable->packets = unpack_u64(from);
	unpack_text(from, unreadable->error, sizeof(unreadable->error));
	return is_whole(from);
}

void misuse_pack(struct buffer *out, enum misuse_kind kind, const struct misuse *misuse)
{
	pack_u8(out, (uint8_t)kind);
	pack_u8(out, misuse->has_user);
	pack_u32(out, misuse->user);
	pack_text(out, misuse->service);
	pack_text(out, misuse->span);
	pack_text(out, misuse->what);
}

bool misuse_unpack(struct unpacker *from, enum misuse_kind *kind, struct misuse *misuse)
{
	uint8_t number = unpack_u8(from);

	*kind = number;
	misuse->has_user = unpack_flag(from);
	misuse->user = unpack_u32(from);
	unpack_text(from, misuse->service, sizeof(misuse->service));
	unpack_text(from, misuse->span, sizeof(misuse->span));
	unpack_text(from, misuse->what, sizeof(misuse->what));
	return is_whole(from) && number < MISUSES;
}

void orders_pack(struct buffer *out, const struct orders *orders)
{
	pack_u8(out, orders->lasting);
	pack_u8(out, orders->holds);
	pack_u8(out, orders->user);
	pack_u8(out, orders->own_relay);
	pack_u8(out, orders->alone);
	pack_u8(out, orders->events);
	pack_u64(out, (uint64_t)orders->files);
	pack_u64(out, orders->number);
	pack_rest(out, &orders->position);
	pack_rest(out, &orders->reached);
	pack_u32(out, orders->suspects->len);
	for (guint i = 0; i < orders->suspects->len; i++) {
		const struct suspect *suspect = &g_array_index(orders->suspects, struct suspect, i);

		pack_u64(out, suspect->user);
		pack_u64(out, (uint64_t)suspect->wait);
	}
}

bool orders_unpack(struct unpacker *from, struct orders *orders)
{
	uint32_t count;

	orders->lasting = unpack_flag(from);
	orders->holds = unpack_flag(from);
	orders->user = unpack_flag(from);
	orders->own_relay = unpack_flag(from);
	orders->alone = unpack_flag(from);
	orders->events = unpack_flag(from);
	orders->files = (int64_t)unpack_u64(from);
	orders->number = unpack_u64(from);
	orders->position = unpack_bytes(from);
	orders->reached = unpack_bytes(from);
	count = unpack_u32(from);
	orders->suspects = g_array_new(FALSE, FALSE, sizeof(struct suspect));
	for (uint32_t i = 0; i < count && !from->failed; i++) {
		struct suspect suspect = {.user = unpack_u64(from)};

		suspect.wait = (int64_t)unpack_u64(from);
		g_array_append_val(orders->suspects, suspect);
	}
	return is_whole(from);
}

struct settings settings_of(const struct config *config)
{
	return (struct settings){
		.level = config->level,
		.stop_timeout = config->stop_timeout,
		.linger = config->linger,
		.grace = config->grace,
		.max_pending = config->max_pending,
		.events = config_wants_events(config),
		.log_level = config->log_level,
		.log_format = config->log_format,
	};
}

void settings_pack(struct buffer *out, const struct settings *settings)
{
	pack_u64(out, settings->level);
	pack_u64(out, (uint64_t)settings->stop_timeout);
	pack_u64(out, (uint64_t)settings->linger);
	pack_u64(out, (uint64_t)settings->grace);
	pack_u64(out, settings->max_pending);
	pack_u64(out, settings->events);
	pack_u64(out, settings->log_level);
	pack_u64(out, settings->log_format);
}

bool settings_unpack(struct unpacker *from, struct settings *settings)
{
	settings->level = unpack_u64(from);
	settings->stop_timeout = (int64_t)unpack_u64(from);
	settings->linger = (int64_t)unpack_u64(from);
	settings->grace = (int64_t)unpack_u64(from);
	settings->max_pending = unpack_u64(from);
	settings->events = unpack_u64(from);
	settings->log_level = unpack_u64(from);
	settings->log_format = unpack_u64(from);
	return is_whole(from);
}
