/* SPDX-License-Identifier: BSD-2-Clause */
#include "call.h"

#include <string.h>

#include <thrift/c_glib/protocol/thrift_binary_protocol.h>
#include <thrift/c_glib/thrift_application_exception.h>
#include <thrift/c_glib/transport/thrift_memory_buffer.h>

#include "blkin_scribe_types.h"
#include "bytes_transport.h"
#include "message.h"
#include "tbinary.h"

/* Of a Log(): what fills a frame of 16 MiB with messages of 60 bytes. Each becomes an object. */
#define MESSAGES_MAX (1 << 18)
/* A reply holds no more than a name and a sentence. */
#define REPLY_MAX 4096

static const struct tbinary_field entry_fields[] = {{1, TBINARY_STRING}, {2, TBINARY_STRING}};
static const struct tbinary_struct entry = {"LogEntry", entry_fields, 2};
static const struct tbinary_field log_fields[] = {{1, TBINARY_LIST, &entry, MESSAGES_MAX}};
static const struct tbinary_struct log_args = {"the arguments of Log", log_fields, 1};
static const struct tbinary_struct no_args = {"the arguments", NULL, 0};

/* A call being answered. */
struct answer {
	struct call_service *service;
	struct call *call;
	const void *args; /* checked */
	size_t args_size;
};

/* Each returns the generated result, the caller's to unref, or NULL having set call->refused. */
typedef ThriftStruct *method(const struct answer *answer);

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
	struct call *call = answer->call;
	guint before = call->spans->len, taken = 0;
	char why[200];

	for (guint i = 0; i < messages->len; i++) {
		const BlkinLogEntry *message = g_ptr_array_index(messages, i);

		if (g_strcmp0(message->category, answer->service->category) != 0) {
			g_strlcpy(call->skipped, message->category ? message->category : "",
				sizeof(call->skipped));
			continue;
		}
		if (!message->message || !message_decode(message->message, strlen(message->message),
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

/* As Zipkin does it, one bad message fails the call. */
static ThriftStruct *take_log(const struct answer *answer)
{
	BlkinScribeLogResult *result = NULL;
	BlkinScribeLogArgs *args;

	bytes_mend_type(BLKIN_TYPE_LOG_ENTRY);
	args = bytes_read_struct(BLKIN_TYPE_SCRIBE_LOG_ARGS, answer->args, answer->args_size);
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

static const struct {
	const char *name;
	method *answer;
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

/* Appends @result, framed, as an answer to @to. It is small and goes to memory: writing cannot fail. */
static void put_reply(
	struct buffer *out, const struct tbinary_message *to, ThriftMessageType type, ThriftStruct *result)
{
	ThriftMemoryBuffer *memory = g_object_new(THRIFT_TYPE_MEMORY_BUFFER, "buf_size", REPLY_MAX, NULL);
	ThriftProtocol *protocol = g_object_new(THRIFT_TYPE_BINARY_PROTOCOL, "transport", memory, NULL);
	uint32_t length;

	bytes_mend_type(THRIFT_TYPE_MEMORY_BUFFER);
	bytes_mend_type(THRIFT_TYPE_BINARY_PROTOCOL);
	bytes_mend_type(G_OBJECT_TYPE(result));
	thrift_protocol_write_message_begin(protocol, to->method, type, to->seqid, NULL);
	thrift_struct_write(result, protocol, NULL);
	thrift_protocol_write_message_end(protocol, NULL);
	length = GUINT32_TO_BE(memory->buf->len);
	buffer_put(out, &length, sizeof(length));
	buffer_put(out, memory->buf->data, memory->buf->len);
	g_object_unref(protocol);
	g_object_unref(memory);
}

static size_t find_method(const char *name)
{
	size_t i = 0;

	while (i < G_N_ELEMENTS(methods) && strcmp(methods[i].name, name) != 0)
		i++;
	return i;
}

const char *call_answer(struct call_service *service, const void *frame, size_t size, struct call *call)
{
	struct answer answer = {.service = service, .call = call};
	const struct tbinary_struct *args = &no_args;
	ThriftMessageType type = T_REPLY;
	struct tbinary_message message;
	ThriftStruct *result = NULL;
	char text[128];
	size_t i;

	if (!tbinary_read_message(frame, size, &message, call->refused, sizeof(call->refused)))
		return call->refused;
	if (message.type != T_CALL && message.type != T_ONEWAY)
		return "a message that is no call";
	i = find_method(message.method);
	if (i < G_N_ELEMENTS(methods))
		args = methods[i].args;
	answer.args = (const uint8_t *)frame + message.size;
	answer.args_size =
		tbinary_check(answer.args, size - message.size, args, call->refused, sizeof(call->refused));
	if (!answer.args_size)
		return call->refused;
	if (i < G_N_ELEMENTS(methods)) {
		result = methods[i].answer(&answer);
		if (!result)
			result = exception(THRIFT_APPLICATION_EXCEPTION_ERROR_INTERNAL_ERROR, call->refused);
	} else {
		g_snprintf(text, sizeof(text), "unknown method %s", message.method);
		result = exception(THRIFT_APPLICATION_EXCEPTION_ERROR_UNKNOWN_METHOD, text);
	}
	if (THRIFT_IS_APPLICATION_EXCEPTION(result))
		type = T_EXCEPTION;
	if (message.type == T_CALL)
		put_reply(&call->reply, &message, type, result);
	g_object_unref(result);
	return NULL;
}
