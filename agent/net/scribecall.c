/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/scribecall.h"

#include <stdio.h>
#include <string.h>

static const struct tbinary_field entry_fields[] = {{1, TBINARY_STRING}, {2, TBINARY_STRING}};
static const struct tbinary_struct entry = {"LogEntry", entry_fields, 2};
static const struct tbinary_field log_fields[] = {{1, TBINARY_LIST, &entry, SCRIBECALL_MESSAGES_MAX},
	{SCRIBECALL_VIA_FIELD, TBINARY_STRING}, {SCRIBECALL_TRAILS_FIELD, TBINARY_STRING}};
static const struct tbinary_struct log_args = {"the arguments of Log", log_fields, 3};
static const struct tbinary_field key_fields[] = {{1, TBINARY_STRING}};
static const struct tbinary_struct key_args = {"the arguments", key_fields, 1};
static const struct tbinary_struct no_args = {"the arguments", NULL, 0};

/* A oneway call has no answer, also if its sender is of a time when such calls had no type of their own. */
static const struct method {
	const char *name;
	enum scribecall_method method;
	const struct tbinary_struct *args;
	bool oneway;
} methods[] = {
	{"Log", SCRIBECALL_LOG, &log_args},
	{"getName", SCRIBECALL_GET_NAME, &no_args},
	{"getVersion", SCRIBECALL_GET_VERSION, &no_args},
	{"getStatus", SCRIBECALL_GET_STATUS, &no_args},
	{"getStatusDetails", SCRIBECALL_GET_STATUS_DETAILS, &no_args},
	{"getCounters", SCRIBECALL_GET_COUNTERS, &no_args},
	{"getCounter", SCRIBECALL_GET_COUNTER, &key_args},
	{"getOption", SCRIBECALL_GET_OPTION, &key_args},
	{"getOptions", SCRIBECALL_GET_OPTIONS, &no_args},
	{"aliveSince", SCRIBECALL_ALIVE_SINCE, &no_args},
	{"shutdown", SCRIBECALL_REFUSED, &no_args, true},
	{"reinitialize", SCRIBECALL_REFUSED, &no_args, true},
	{"setOption", SCRIBECALL_REFUSED, &no_args},
};

static const struct method *find_method(const struct tbinary_message *head)
{
	static const struct method unknown = {"", SCRIBECALL_UNKNOWN, &no_args};

	for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
		if (head->method_size == strlen(methods[i].name) &&
			memcmp(head->method, methods[i].name, head->method_size) == 0)
			return &methods[i];
	return &unknown;
}

/* Skips a list's head; how many elements it has. */
static uint32_t get_list(struct tbinary_reader *reader)
{
	tbinary_get_u8(reader);
	return tbinary_get_i32(reader);
}

const uint8_t *scribecall_elements(
	struct tbinary_reader *at, uint8_t type, uint8_t element, uint32_t element_size, uint32_t *size)
{
	if (type == TBINARY_STRING)
		return tbinary_get_string(at, size);
	if (type != TBINARY_LIST || tbinary_get_u8(at) != element)
		return NULL;
	*size = element_size * tbinary_get_i32(at);
	return at->data + at->at;
}

static void get_via(struct scribecall *call, struct tbinary_reader at, uint8_t type)
{
	call->via_count = 0;
	call->via = scribecall_elements(&at, type, TBINARY_I64, 8, &call->via_count);
	call->via_count = call->via_count / 8 < SCRIBECALL_VIA_MAX ? call->via_count / 8 : SCRIBECALL_VIA_MAX;
}

static void get_trails(struct scribecall *call, struct tbinary_reader at, uint8_t type)
{
	call->trails_size = 0;
	call->trails = scribecall_elements(&at, type, TBINARY_BYTE, 1, &call->trails_size);
}

static void get_wanted(struct scribecall *call, struct tbinary_reader at, uint8_t type)
{
	uint32_t size = 0;

	if (type != TBINARY_LIST)
		return;
	call->wanted = scribecall_elements(&at, type, TBINARY_I64, 8, &size);
	call->wanted_count = call->wanted ? size / 16 : 0;
	call->hears = call->wanted != NULL;
}

/* The arguments were checked: fields of other types than these are not there for us. */
static void read_args(struct scribecall *call, struct tbinary_reader args)
{
	uint8_t type;
	int16_t id;

	while (tbinary_get_field(&args, &type, &id)) {
		struct tbinary_reader at = args;

		if (call->method == SCRIBECALL_LOG && id == 1 && type == TBINARY_LIST) {
			call->count = get_list(&at);
			call->entries = at;
		} else if (call->method == SCRIBECALL_LOG && id == SCRIBECALL_VIA_FIELD) {
			get_via(call, at, type);
		} else if (call->method == SCRIBECALL_LOG && id == SCRIBECALL_TRAILS_FIELD) {
			get_trails(call, at, type);
		} else if (call->method == SCRIBECALL_LOG && id == SCRIBECALL_SHARE_FIELD &&
			   type == TBINARY_I64) {
			call->share = tbinary_get_i64(&at);
		} else if (call->method == SCRIBECALL_LOG && id == SCRIBECALL_REPLAY_FIELD &&
			   type == TBINARY_I64) {
			call->replayed = tbinary_get_i64(&at) != 0;
		} else if (call->method == SCRIBECALL_LOG && id == SCRIBECALL_WANTED_FIELD) {
			get_wanted(call, at, type);
		} else if (call->method != SCRIBECALL_LOG && id == 1 && type == TBINARY_STRING) {
			call->key = tbinary_get_string(&at, &call->key_size);
		}
		tbinary_skip(&args, type);
	}
}

bool scribecall_read(struct scribecall *call, const void *data, size_t size, char *why, size_t why_size)
{
	struct tbinary_reader reader = tbinary_read(data, size), args;
	const struct method *method;

	*call = (struct scribecall){.strict = size && (*(const uint8_t *)data & 0x80)};
	if (!tbinary_get_message(&reader, &call->head)) {
		snprintf(why, why_size, "%s", reader.error);
		return false;
	}
	if (call->head.type != TBINARY_CALL && call->head.type != TBINARY_ONEWAY) {
		snprintf(why, why_size, "a message that is no call");
		return false;
	}
	method = find_method(&call->head);
	call->method = method->method;
	call->wants_reply = call->head.type == TBINARY_CALL && !method->oneway;
	args = reader;
	if (!tbinary_check(&reader, method->args)) {
		snprintf(why, why_size, "%s", reader.error);
		return false;
	}
	if (tbinary_left(&reader)) {
		snprintf(why, why_size, "%zu bytes behind the call", tbinary_left(&reader));
		return false;
	}
	read_args(call, args);
	return true;
}

void scribecall_next(struct scribecall *call, struct scribecall_entry *next)
{
	struct tbinary_reader *reader = &call->entries;
	size_t packed;
	uint8_t type;
	int16_t id;

	*next = (struct scribecall_entry){0};
	packed = trail_unpack(call->trails, call->trails_size, &next->trail);
	call->trails_size -= (uint32_t)packed;
	if (packed)
		call->trails += packed;
	while (tbinary_get_field(reader, &type, &id)) {
		if (id == 1 && type == TBINARY_STRING)
			next->category = tbinary_get_string(reader, &next->category_size);
		else if (id == 2 && type == TBINARY_STRING)
			next->message = tbinary_get_string(reader, &next->message_size);
		else
			tbinary_skip(reader, type);
	}
}

struct trace_id scribecall_wanted(const uint8_t *wanted, uint32_t at)
{
	struct tbinary_reader reader = tbinary_read(wanted + (size_t)at * 16, 16);
	struct trace_id id;

	id.high = tbinary_get_i64(&reader);
	id.low = tbinary_get_i64(&reader);
	return id;
}

/* Replies */

void scribecall_identify(const struct scribecall *call, bool framed, struct scribecall_id *id)
{
	size_t size = call->head.method_size;

	if (size >= sizeof(id->method))
		size = sizeof(id->method) - 1;
	memcpy(id->method, call->head.method, size);
	id->method[size] = '\0';
	id->seqid = call->head.seqid;
	id->strict = call->strict;
	id->framed = framed;
}

static void put_i32(struct buffer *out, uint32_t value)
{
	tbinary_put_i32(buffer_reserve(out, 4), value);
	out->size += 4;
}

static void put_i64(struct buffer *out, int64_t value)
{
	tbinary_put_i64(buffer_reserve(out, 8), (uint64_t)value);
	out->size += 8;
}

static void put_byte(struct buffer *out, uint8_t byte)
{
	buffer_put(out, &byte, 1);
}

static void put_string(struct buffer *out, const char *text)
{
	put_i32(out, (uint32_t)strlen(text));
	buffer_put(out, text, strlen(text));
}

static void put_field(struct buffer *out, enum tbinary_type type, uint16_t id)
{
	tbinary_put_field(buffer_reserve(out, 4), type, id);
	out->size += 3;
}

/* Returns where the reply begins. */
static size_t begin(struct buffer *out, const struct scribecall_id *id, enum tbinary_message_type type)
{
	size_t start = out->size;

	if (id->framed)
		put_i32(out, 0);
	if (id->strict)
		put_i32(out, TBINARY_VERSION_1 | type);
	put_string(out, id->method);
	if (!id->strict)
		put_byte(out, (uint8_t)type);
	put_i32(out, (uint32_t)id->seqid);
	return start;
}

static void end(struct buffer *out, const struct scribecall_id *id, size_t start)
{
	put_byte(out, TBINARY_STOP);
	if (id->framed)
		tbinary_put_i32(out->data + start, (uint32_t)(out->size - start - TBINARY_FRAME_HEAD));
}

void scribecall_put_number(
	struct buffer *out, const struct scribecall_id *id, enum tbinary_type type, int64_t value)
{
	size_t start = begin(out, id, TBINARY_REPLY);

	put_field(out, type, 0);
	if (type == TBINARY_I64)
		put_i64(out, value);
	else
		put_i32(out, (uint32_t)value);
	end(out, id, start);
}

static void put_number(struct buffer *out, uint16_t field, uint64_t number)
{
	put_field(out, TBINARY_I64, field);
	put_i64(out, (int64_t)number);
}

static void put_wanted(struct buffer *out, const struct trace_id *wanted, uint32_t count)
{
	put_field(out, TBINARY_LIST, SCRIBECALL_WANTED_FIELD);
	put_byte(out, TBINARY_I64);
	put_i32(out, 2 * count);
	for (uint32_t i = 0; i < count; i++) {
		put_i64(out, (int64_t)wanted[i].high);
		put_i64(out, (int64_t)wanted[i].low);
	}
}

void scribecall_put_result(struct buffer *out, const struct scribecall_id *id, int32_t result,
	const struct scribecall_terms *terms)
{
	size_t start = begin(out, id, TBINARY_REPLY);

	put_field(out, TBINARY_I32, 0);
	put_i32(out, (uint32_t)result);
	if (terms->shares)
		put_number(out, SCRIBECALL_SHARE_FIELD, terms->share);
	if (terms->grant)
		put_number(out, SCRIBECALL_REPLAY_FIELD, terms->grant);
	if (terms->hears)
		put_wanted(out, terms->wanted, terms->wanted_count);
	end(out, id, start);
}

void scribecall_put_text(struct buffer *out, const struct scribecall_id *id, const char *text)
{
	size_t start = begin(out, id, TBINARY_REPLY);

	put_field(out, TBINARY_STRING, 0);
	put_string(out, text);
	end(out, id, start);
}

static void put_map(struct buffer *out, enum tbinary_type value, uint32_t count)
{
	put_field(out, TBINARY_MAP, 0);
	put_byte(out, TBINARY_STRING);
	put_byte(out, (uint8_t)value);
	put_i32(out, count);
}

void scribecall_put_counters(struct buffer *out, const struct scribecall_id *id,
	const struct scribecall_counter *counters, uint32_t count)
{
	size_t start = begin(out, id, TBINARY_REPLY);

	put_map(out, TBINARY_I64, count);
	for (uint32_t i = 0; i < count; i++) {
		put_string(out, counters[i].name);
		put_i64(out, counters[i].value);
	}
	end(out, id, start);
}

void scribecall_put_options(struct buffer *out, const struct scribecall_id *id)
{
	size_t start = begin(out, id, TBINARY_REPLY);

	put_map(out, TBINARY_STRING, 0);
	end(out, id, start);
}

void scribecall_put_exception(
	struct buffer *out, const struct scribecall_id *id, enum scribecall_exception type, const char *words)
{
	size_t start = begin(out, id, TBINARY_EXCEPTION);

	put_field(out, TBINARY_STRING, 1);
	put_string(out, words);
	put_field(out, TBINARY_I32, 2);
	put_i32(out, type);
	end(out, id, start);
}
