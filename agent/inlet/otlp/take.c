/* SPDX-License-Identifier: BSD-2-Clause */
/* From a request to records, and of logs to messages: otlp.h. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "encode/otlpfromjson.h"
#include "encode/otlplogs.h"
#include "inlet/otlp/otlp.h"
#include "net/message.h"
#include "net/protobuf.h"

/* Fields of the responses. */
enum { RESPONSE_PARTIAL = 1, PARTIAL_REJECTED = 1, PARTIAL_MESSAGE = 2, RPC_CODE = 1, RPC_MESSAGE = 2 };

#define RETRY_SECONDS 3
/* Memory that is kept for the next request. */
#define KEPT_FOR_NEXT ((size_t)1024 * 1024)

void *otlp_create(void)
{
	struct otlp_own *own = g_new0(struct otlp_own, 1);

	own->unsqueeze = unsqueeze_create();
	return own;
}

void otlp_destroy(void *data)
{
	struct otlp_own *own = data;

	otlp_circle_forget(own);
	otlp_again_forget(own);
	otlptraces_memory_free(&own->memory);
	unsqueeze_destroy(own->unsqueeze);
	buffer_free(&own->unpacked);
	g_free(own);
}

static size_t room_of(const struct span_memory *memory)
{
	return memory->annotations.room + memory->tags.room + memory->texts.room + memory->more.room;
}

void otlp_tidy(struct inlet *inlet)
{
	struct otlp_own *own = inlet->own;
	struct otlptraces_memory *memory = &own->memory;
	size_t room = own->unpacked.room + memory->request.room + memory->texts.room +
		      room_of(&memory->process) + room_of(&memory->scope) + room_of(&memory->span);

	if (room <= KEPT_FOR_NEXT)
		return;
	otlptraces_memory_free(memory);
	buffer_free(&own->unpacked);
	inlet->freed_much = true;
}

/* What each signal is. */
static const struct {
	enum kind kind;
	const struct otlp_message *request;
	bool (*check)(const uint8_t *request, size_t size, struct otlpcheck_found *found);
	const char *message, *rejected; /* its names, and in JSON */
} signals[] = {
	[OTLP_TRACES] = {KIND_SPANS, &otlp_request, otlptraces_check, "ExportTraceServiceRequest",
		"rejectedSpans"},
	[OTLP_LOGS] = {KIND_MESSAGES, &otlp_logs_request, otlplogs_check, "ExportLogsServiceRequest",
		"rejectedLogRecords"},
};

/* What the spans, or records, of one request share. */
struct taking {
	const struct connection *connection;
	struct group *group;
	struct taken taken;
	size_t largest;       /* item that no output drops as too large */
	struct buffer *out;   /* scratch memory */
	struct inlet *circle; /* its items are looked up there; NULL: they are not */
	uint32_t seen, known, again;
	struct otlp_own *own;
	int64_t now;
};

static void refuse(struct taking *is, enum refusal reason, const char *why)
{
	if (!*is->taken.why) {
		is->taken.reason = reason;
		g_strlcpy(is->taken.why, why, sizeof(is->taken.why));
	}
	is->taken.refused[reason]++;
}

/* A span's ids are the same on its whole way. */
static bool is_known(struct taking *is, const struct span *span, bool keep)
{
	const uint64_t ids[] = {span->trace_id_high, span->trace_id, span->id};

	return otlp_circle_has(is->circle, ids, sizeof(ids), keep);
}

static void on_span(void *data, const struct span *from)
{
	struct taking *is = data;
	struct batch *spans = is->group->spans;
	size_t before = spans->spans.size, size;
	struct span span = *from;

	span.last_event = is->now;
	if (record_put(&spans->spans, &span) < 0 || spans->spans.size - before > is->largest) {
		spans->spans.size = before;
		refuse(is, REFUSED_OVERSIZE, "a span is larger than an output's `batch-size`");
		return;
	}
	size = spans->spans.size - before;
	batch_added(spans, size, is->now);
	count_note(is->group, is->connection, &span);
	if (is->circle)
		is_known(is, &span, true);
	is->again += otlp_again_note(is->own, &span, is->now);
	is->taken.taken++;
}

static void on_refused(void *data, const char *why)
{
	char text[160];

	snprintf(text, sizeof(text), "a span %s", why);
	refuse(data, REFUSED_ID, text);
}

static void on_record(void *data, const uint8_t *payload, size_t size)
{
	static const char category[] = OTLPLOGS_CATEGORY;
	const struct message message = {.time = clock_wall(),
		.category = (const uint8_t *)category,
		.category_size = sizeof(category) - 1,
		.payload = payload,
		.payload_size = (uint32_t)size};
	struct taking *is = data;

	if (MESSAGE_HEAD + sizeof(category) - 1 + size > is->largest) {
		refuse(is, REFUSED_OVERSIZE,
			"a log record is larger than 1 MiB, or than an output's `batch-size`");
		return;
	}
	is->out->size = 0;
	message_put(is->out, &message);
	batch_add(is->group->messages, is->out->data, is->out->size, message.time);
	if (is->circle)
		otlp_circle_has(is->circle, payload, size, true);
	is->taken.taken++;
}

/* The same without taking them. */

static void see_span(void *data, const struct span *span)
{
	struct taking *is = data;

	is->seen++;
	is->known += is_known(is, span, false);
}

static void see_refused(void *data, const char *why)
{
	(void)why;
	((struct taking *)data)->seen++;
}

static void see_record(void *data, const uint8_t *payload, size_t size)
{
	struct taking *is = data;

	is->seen++;
	is->known += otlp_circle_has(is->circle, payload, size, false);
}

static uint32_t count_refused(const struct taken *taken)
{
	uint32_t count = 0;

	for (int i = 0; i < REFUSALS; i++)
		count += taken->refused[i];
	return count;
}

/* Makes it one in Protocol Buffers; false if it is no JSON of one. */
static bool convert(struct otlp_call *call, const uint8_t **request, size_t *size)
{
	struct otlptraces_memory *memory = &((struct otlp_own *)call->call.connection->inlet->own)->memory;

	if (!call->json)
		return true;
	memory->request.size = 0;
	if (!otlpfromjson(&memory->request, signals[call->signal].request, (const char *)*request, *size,
		    &memory->texts))
		return false;
	*request = memory->request.data;
	*size = memory->request.size;
	return true;
}

const char *otlp_damaged_words(enum otlp_signal signal)
{
	return signal == OTLP_LOGS ? "it is no ExportLogsServiceRequest, or a text in it is not UTF-8"
				   : "it is no ExportTraceServiceRequest, or a text in it is not UTF-8";
}

bool otlp_is_taken(struct connection *connection, enum otlp_signal signal)
{
	struct inlet *inlet = connection->inlet;

	if (signal == OTLP_TRACES)
		return true;
	call_take_up_outlets(inlet);
	if (fanout_takes(inlet->fanout, KIND_MESSAGES))
		return true;
	inlet_say(
		inlet, SAY_FOREIGN_CALL, "%s: logs are not taken: %s", connection->peer, OTLP_NO_LOGS_WORDS);
	return false;
}

/* Whether it is taken at all, and not put off. */
static bool is_admitted(struct otlp_call *call, const struct weight *weight)
{
	struct inlet *inlet = call->call.connection->inlet;

	if (!limits_promote(call->call.connection))
		return false;
	call_take_up_outlets(inlet);
	return fanout_takes(inlet->fanout, signals[call->signal].kind) && call_has_room(inlet, weight);
}

static enum otlp_result note_damaged(struct otlp_call *call)
{
	struct ledger change = {0};

	change.row[MESSAGES_RECEIVED] = change.row[MESSAGES_REFUSED_MALFORMED] = 1;
	ledger_post(&change);
	inlet_say(call->call.connection->inlet, SAY_REFUSED + REFUSED_MALFORMED,
		"%s: refused a request: it is no %s of OTLP's, in %s", call->call.connection->peer,
		signals[call->signal].message, call->json ? "JSON" : "Protocol Buffers");
	return OTLP_DAMAGED;
}

static enum otlp_result note_oversize(struct otlp_call *call, const char *why)
{
	struct ledger change = {0};

	change.row[MESSAGES_RECEIVED] = change.row[MESSAGES_REFUSED_OVERSIZE] = 1;
	ledger_post(&change);
	inlet_say(call->call.connection->inlet, SAY_REFUSED + REFUSED_OVERSIZE, "%s: refused a request: %s",
		call->call.connection->peer, why);
	g_strlcpy(call->why, why, sizeof(call->why));
	return OTLP_OVERSIZE;
}

static enum otlp_result put_off(struct otlp_call *call)
{
	call_put_off(&call->call, MESSAGES_PUT_OFF);
	return OTLP_LATER;
}

static void read_spans(struct otlp_call *call, struct taking *is, const uint8_t *request, size_t size,
	const struct otlpcheck_found *found)
{
	struct inlet *inlet = call->call.connection->inlet;
	struct otlp_own *own = inlet->own;
	const struct otlptraces_sink sink = {on_span, on_refused, is};

	is->own = own;
	is->largest = is->group->largest[KIND_SPANS];
	otlptraces_read_checked(request, size, found, &own->memory, &sink);
	if (is->again)
		call_tell_again(&call->call, is->again);
}

static void read_records(struct otlp_call *call, struct taking *is, const uint8_t *request, size_t size)
{
	struct inlet *inlet = call->call.connection->inlet;

	is->largest = is->group->largest[KIND_MESSAGES];
	is->out = &inlet->encoded;
	otlplogs_read(request, size, &inlet->scratch, on_record, is);
}

static bool comes_round(
	struct otlp_call *call, const uint8_t *request, size_t size, const struct otlpcheck_found *found)
{
	struct inlet *inlet = call->call.connection->inlet;
	struct otlp_own *own = inlet->own;
	struct taking is = {.circle = inlet};
	const struct otlptraces_sink sink = {see_span, see_refused, &is};

	if (call->signal == OTLP_TRACES)
		otlptraces_read_checked(request, size, found, &own->memory, &sink);
	else
		otlplogs_read(request, size, &inlet->scratch, see_record, &is);
	if (!is.known)
		return false;
	call_tell_loop(&call->call, is.known, is.seen);
	call->came_round = true;
	call_put_off(&call->call, INPUT_CALLS_LOOPED);
	return true;
}

/* What was taken, and is to be sent again after all, has not come round then. */
void otlp_note_answer(struct otlp_call *call, enum answer answer)
{
	struct otlp_own *own = call->call.connection->inlet->own;

	if (answer != ANSWER_OK && call->is_kept)
		otlp_circle_forget(own);
	if (answer != ANSWER_OK && call->is_taken)
		otlp_again_forget(own);
}

/* A request that is put off counts as one, as nobody has looked how many spans are in it. */
enum otlp_result otlp_take(struct otlp_call *call, const uint8_t *request, size_t size)
{
	struct inlet *inlet = call->call.connection->inlet;
	const enum kind kind = signals[call->signal].kind;
	struct weight weight = {{0}};
	struct taking is = {.now = clock_wall()};
	struct otlpcheck_found found;

	weight.of[kind] = size;
	call->call.messages = 1;
	call->call.connection->served = true;
	inlet->freed_much |= size > KEPT_BYTES; /* its memory soon goes */
	if (!is_admitted(call, &weight))
		return put_off(call);
	if (!convert(call, &request, &size) || !signals[call->signal].check(request, size, &found))
		return note_damaged(call);
	if (found.records > OTLP_RECORDS_MAX)
		return note_oversize(call, "its spans or log records take more than 32 MiB, each with its "
					   "resource: hand over fewer at a time");
	if (call->signal == OTLP_TRACES && found.reading > OTLP_READING_MAX)
		return note_oversize(call,
			"one of its spans, resources or scopes is larger than 8 MiB, or has "
			"hundreds of thousands of attributes, events or links");
	if (call->is_suspected && comes_round(call, request, size, &found))
		return OTLP_LATER;
	weight.of[kind] = MAX(found.records, size);
	if (!call_has_room(inlet, &weight))
		return put_off(call);
	call->is_kept = call->is_suspected;
	is.circle = call->is_suspected ? inlet : NULL;
	is.connection = call->call.connection;
	is.group = group_open(is.connection, &weight);
	if (kind == KIND_SPANS)
		read_spans(call, &is, request, size, &found);
	else
		read_records(call, &is, request, size);
	call->rejected = count_refused(&is.taken);
	call->call.messages = is.taken.taken + call->rejected;
	g_strlcpy(call->why, is.taken.why, sizeof(call->why));
	call->is_taken = is.taken.taken > 0; /* which may be answered at once */
	return call_enter(&call->call, is.group, &weight, &is.taken) ? OTLP_WAITS : OTLP_DONE;
}

/* Answers */

static void put_json_response(struct buffer *out, const struct otlp_call *call)
{
	char rejected[16];

	json_open(out, '{');
	if (call->rejected) {
		snprintf(rejected, sizeof(rejected), "%" PRIu32, call->rejected);
		json_key(out, "partialSuccess");
		json_open(out, '{');
		json_key(out, signals[call->signal].rejected);
		json_text(out, rejected);
		json_key(out, "errorMessage");
		json_text(out, call->why);
		json_close(out, '}');
	}
	json_close(out, '}');
}

/* A number and a text, as a message has them. */
static void put_pair(
	struct buffer *out, uint32_t number_field, uint64_t number, uint32_t text_field, const char *text)
{
	size_t size = strlen(text);
	uint8_t *start = buffer_reserve(out, size + 64), *to = start;

	to = protobuf_put_varint(protobuf_put_field(to, number_field, PROTOBUF_VARINT), number);
	to = protobuf_put_bytes(to, text_field, text, size);
	out->size += (size_t)(to - start);
}

void otlp_put_response(struct buffer *out, const struct otlp_call *call)
{
	struct buffer partial = {0};
	uint8_t *to;

	if (call->json) {
		put_json_response(out, call);
		return;
	}
	if (!call->rejected)
		return;
	put_pair(&partial, PARTIAL_REJECTED, call->rejected, PARTIAL_MESSAGE, call->why);
	to = buffer_reserve(out, partial.size + 16);
	out->size += (size_t)(protobuf_put_bytes(to, RESPONSE_PARTIAL, partial.data, partial.size) - to);
	buffer_free(&partial);
}

void otlp_put_status(struct buffer *out, bool json, unsigned code, const char *words)
{
	if (!json) {
		put_pair(out, RPC_CODE, code, RPC_MESSAGE, words);
		return;
	}
	json_open(out, '{');
	json_key(out, "code");
	json_int(out, code);
	json_key(out, "message");
	json_text(out, words);
	json_close(out, '}');
}

unsigned otlp_retry_after(void)
{
	return 1 + (unsigned)g_random_int_range(0, RETRY_SECONDS);
}
