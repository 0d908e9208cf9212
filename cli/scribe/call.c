/* SPDX-License-Identifier: BSD-2-Clause */
#include "scribe/call.h"

#include <string.h>

#include <thrift/c_glib/protocol/thrift_binary_protocol.h>
#include <thrift/c_glib/thrift_application_exception.h>
#include <thrift/c_glib/transport/thrift_memory_buffer.h>

#include "blkin_scribe_types.h"
#include "net/tbinary.h"
#include "spans/decode.h"
#include "spans/thrift_reader.h"

/* The most messages of a Log(): 60 bytes each fill a frame of 16 MiB. Each becomes an object. */
#define MESSAGES_MAX (1 << 18)
/* A reply holds no more than a name and a sentence. */
#define REPLY_MAX 4096
/* Longer than any method's name, with its NUL. */
#define METHOD_SIZE 64

static const struct tbinary_field entry_fields[] = {{1, TBINARY_STRING}, {2, TBINARY_STRING}};
static const struct tbinary_struct entry = {"LogEntry", entry_fields, 2};
static const struct tbinary_field log_fields[] = {{1, TBINARY_LIST, &entry, MESSAGES_MAX}};
static const struct tbinary_struct log_args = {"the arguments of Log", log_fields, 1};
static const struct tbinary_struct no_args = {"the arguments", NULL, 0};

/* A call being answered. */
struct answer {
	struct scribe_service *service;
	struct scribe_call *call;
	const void *args; /* checked */
	size_t args_size;
};

/* Each returns the generated result, which the caller unrefs, or NULL, having set call->refused. */
typedef ThriftStruct *answer_method(const struct answer *answer);

static ThriftStruct *get_name(const struct answer *answer)
{
	BlkinScribeGetNameResult *result = g_object_new(BLKIN_TYPE_SCRIBE_GET_NAME_RESULT, NULL);

	(void)answer;
	result->success = g_strdup("blkin collect");
	result->__isset_success = TRUE;
	return THRIFT_STRUCT(result);
}

static ThriftStruct *get_version(const struct answer *answer)
{
	BlkinScribeGetVersionResult *result = g_object_new(BLKIN_TYPE_SCRIBE_GET_VERSION_RESULT, NULL);

	(void)answer;
	result->success = g_strdup(BLKIN_VERSION);
	result->__isset_success = TRUE;
	return THRIFT_STRUCT(result);
}

static ThriftStruct *get_status(const struct answer *answer)
{
	BlkinScribeGetStatusResult *result = g_object_new(BLKIN_TYPE_SCRIBE_GET_STATUS_RESULT, NULL);

	(void)answer;
	result->success = BLKIN_FB_STATUS_ALIVE;
	result->__isset_success = TRUE;
	return THRIFT_STRUCT(result);
}

static ThriftStruct *get_status_details(const struct answer *answer)
{
	BlkinScribeGetStatusDetailsResult *result =
		g_object_new(BLKIN_TYPE_SCRIBE_GET_STATUS_DETAILS_RESULT, NULL);

	result->success = g_strdup_printf("printing the spans of category %s", answer->service->category);
	result->__isset_success = TRUE;
	return THRIFT_STRUCT(result);
}

static void count(GHashTable *counters, const char *name, int64_t value)
{
	gint64 *copy = g_new(gint64, 1);

	*copy = value;
	g_hash_table_insert(counters, g_strdup(name), copy);
}

static ThriftStruct *get_counters(const struct answer *answer)
{
	BlkinScribeGetCountersResult *result = g_object_new(BLKIN_TYPE_SCRIBE_GET_COUNTERS_RESULT, NULL);

	count(result->success, "messages", answer->service->messages);
	count(result->success, "messages_skipped", answer->service->skipped);
	count(result->success, "spans", answer->service->spans);
	count(result->success, "calls_refused", answer->service->refused);
	result->__isset_success = TRUE;
	return THRIFT_STRUCT(result);
}

static ThriftStruct *alive_since(const struct answer *answer)
{
	BlkinScribeAliveSinceResult *result = g_object_new(BLKIN_TYPE_SCRIBE_ALIVE_SINCE_RESULT, NULL);

	result->success = answer->service->alive_since;
	result->__isset_success = TRUE;
	return THRIFT_STRUCT(result);
}

static bool take_messages(const struct answer *answer, const GPtrArray *messages)
{
	struct scribe_call *call = answer->call;
	guint before = call->spans->len, taken = 0;
	char why[200];

	for (guint i = 0; i < messages->len; i++) {
		const BlkinLogEntry *message = g_ptr_array_index(messages, i);

		if (g_strcmp0(message->category, answer->service->category) != 0) {
			g_strlcpy(call->skipped, message->category ? message->category : "",
				sizeof(call->skipped));
			continue;
		}
		if (!message->message || !decode_message(message->message, strlen(message->message),
						 call->spans, why, sizeof(why))) {
			g_snprintf(call->refused, sizeof(call->refused), "message %u of %u: %s", i + 1,
				messages->len, message->message ? why : "it is missing");
			g_ptr_array_set_size(call->spans, (gint)before);
			return false;
		}
		taken++;
	}
	answer->service->messages += taken;
	answer->service->skipped += messages->len - taken;
	answer->service->spans += call->spans->len - before;
	return true;
}

/* Like in Zipkin, one bad message fails the call. */
static ThriftStruct *take_log(const struct answer *answer)
{
	BlkinScribeLogResult *result = NULL;
	BlkinScribeLogArgs *args;

	thrift_fix_type(BLKIN_TYPE_LOG_ENTRY);
	args = thrift_read_struct(BLKIN_TYPE_SCRIBE_LOG_ARGS, answer->args, answer->args_size);
	if (!args) {
		g_strlcpy(answer->call->refused, "Thrift does not read the arguments",
			sizeof(answer->call->refused));
	} else if (take_messages(answer, args->messages)) {
		result = g_object_new(BLKIN_TYPE_SCRIBE_LOG_RESULT, NULL);
		result->success = BLKIN_RESULT_CODE_OK;
		result->__isset_success = TRUE;
	}
	if (!result)
		answer->service->refused++;
	if (args)
		g_object_unref(args);
	return (ThriftStruct *)result;
}

static const struct method {
	const char *name;
	answer_method *answer;
	const struct tbinary_struct *args;
} methods[] = {
	{"Log", take_log, &log_args},
	{"getName", get_name, &no_args},
	{"getVersion", get_version, &no_args},
	{"getStatus", get_status, &no_args},
	{"getStatusDetails", get_status_details, &no_args},
	{"getCounters", get_counters, &no_args},
	{"aliveSince", alive_since, &no_args},
};

static ThriftStruct *exception(int32_t type, const char *message)
{
	ThriftApplicationException *xception = g_object_new(THRIFT_TYPE_APPLICATION_EXCEPTION, NULL);

	xception->type = type;
	xception->__isset_type = TRUE;
	xception->message = g_strdup(message);
	xception->__isset_message = TRUE;
	return THRIFT_STRUCT(xception);
}

/* Appends @result, framed, as an answer to a call of @method. It is small and goes to memory: writing cannot
 * fail. */
static void put_reply(
	struct buffer *out, const char *method, int32_t seqid, ThriftMessageType type, ThriftStruct *result)
{
	ThriftMemoryBuffer *memory = g_object_new(THRIFT_TYPE_MEMORY_BUFFER, "buf_size", REPLY_MAX, NULL);
	ThriftProtocol *protocol = g_object_new(THRIFT_TYPE_BINARY_PROTOCOL, "transport", memory, NULL);
	uint32_t length;

	thrift_fix_type(THRIFT_TYPE_MEMORY_BUFFER);
	thrift_fix_type(THRIFT_TYPE_BINARY_PROTOCOL);
	thrift_fix_type(G_OBJECT_TYPE(result));
	thrift_protocol_write_message_begin(protocol, method, type, seqid, NULL);
	thrift_struct_write(result, protocol, NULL);
	thrift_protocol_write_message_end(protocol, NULL);
	length = GUINT32_TO_BE(memory->buf->len);
	buffer_put(out, &length, sizeof(length));
	buffer_put(out, memory->buf->data, memory->buf->len);
	g_object_unref(protocol);
	g_object_unref(memory);
}

static const struct method *find_method(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(methods); i++)
		if (strcmp(methods[i].name, name) == 0)
			return &methods[i];
	return NULL;
}

/* Calls @method, NULL if there is none of that @name; returns its result or an exception. */
static ThriftStruct *get_result(const struct answer *answer, const struct method *method, const char *name)
{
	ThriftStruct *result = method ? method->answer(answer) : NULL;
	char text[128];

	if (result)
		return result;
	if (method)
		return exception(THRIFT_APPLICATION_EXCEPTION_ERROR_INTERNAL_ERROR, answer->call->refused);
	g_snprintf(text, sizeof(text), "unknown method %s", name);
	return exception(THRIFT_APPLICATION_EXCEPTION_ERROR_UNKNOWN_METHOD, text);
}

/* Reads the header of a call. Returns NULL, or what is wrong with it. */
static const char *read_header(struct tbinary_reader *reader, struct tbinary_message *message,
	char name[METHOD_SIZE], struct scribe_call *call)
{
	char *why = call->refused;

	if (!tbinary_get_message(reader, message)) {
		g_strlcpy(why, reader->error, sizeof(call->refused));
		return why;
	}
	if (message->method_size >= METHOD_SIZE) {
		g_snprintf(why, sizeof(call->refused), "a method's name of %u bytes", message->method_size);
		return why;
	}
	memcpy(name, message->method, message->method_size);
	name[message->method_size] = '\0';
	if (message->type != TBINARY_CALL && message->type != TBINARY_ONEWAY)
		return "a message that is no call";
	return NULL;
}

const char *scribe_call_answer(
	struct scribe_service *service, const void *frame, size_t size, struct scribe_call *call)
{
	struct tbinary_reader reader = tbinary_read(frame, size);
	struct answer answer = {.service = service, .call = call};
	const struct method *method;
	struct tbinary_message message;
	ThriftMessageType type = T_REPLY;
	ThriftStruct *result;
	char name[METHOD_SIZE];
	const char *wrong = read_header(&reader, &message, name, call);

	if (wrong)
		return wrong;
	method = find_method(name);
	answer.args = (const uint8_t *)frame + reader.at;
	answer.args_size = tbinary_left(&reader);
	if (!tbinary_check(&reader, method ? method->args : &no_args)) {
		g_strlcpy(call->refused, reader.error, sizeof(call->refused));
		return call->refused;
	}
	result = get_result(&answer, method, name);
	if (THRIFT_IS_APPLICATION_EXCEPTION(result))
		type = T_EXCEPTION;
	if (message.type == TBINARY_CALL)
		put_reply(&call->reply, name, message.seqid, type, result);
	g_object_unref(result);
	return NULL;
}
