/* SPDX-License-Identifier: BSD-2-Clause */
#include "scribe/call.h"

#include <string.h>

#include "net/scribecall.h"
#include "spans/decode.h"

/* fb303's state of a service, and Scribe's result, when all is well. */
enum { FB_ALIVE = 2, RESULT_OK = 0 };

/* A call being answered. */
struct answer {
	struct scribe_service *service;
	struct scribe_call *call;
	struct scribecall from;
	struct scribecall_id id;
	struct buffer *reply; /* to be appended to */
};

static void tell_category(struct scribe_call *call, const struct scribecall_entry *entry)
{
	size_t size = MIN(entry->category_size, sizeof(call->skipped) - 1);

	if (size)
		memcpy(call->skipped, entry->category, size);
	call->skipped[size] = '\0';
}

static bool is_span(const struct scribe_service *service, const struct scribecall_entry *entry)
{
	return entry->category && entry->category_size == strlen(service->category) &&
	       memcmp(entry->category, service->category, entry->category_size) == 0;
}

/* False, and a sentence in @why, if it is none. */
static bool take_message(const struct scribecall_entry *entry, GPtrArray *spans, char *why, size_t why_size)
{
	if (entry->message)
		return decode_message(
			(const char *)entry->message, entry->message_size, spans, why, why_size);
	g_strlcpy(why, "it is missing", why_size);
	return false;
}

static bool take_messages(struct answer *answer)
{
	struct scribe_call *call = answer->call;
	guint before = call->spans->len, taken = 0, count = answer->from.count;
	struct scribecall_entry entry;
	char why[200];

	for (guint i = 0; i < count; i++) {
		scribecall_next(&answer->from, &entry);
		if (!is_span(answer->service, &entry)) {
			tell_category(call, &entry);
			continue;
		}
		if (!take_message(&entry, call->spans, why, sizeof(why))) {
			g_snprintf(call->refused, sizeof(call->refused), "message %u of %u: %s", i + 1, count,
				why);
			g_ptr_array_set_size(call->spans, (gint)before);
			return false;
		}
		taken++;
	}
	answer->service->messages += taken;
	answer->service->skipped += count - taken;
	answer->service->spans += call->spans->len - before;
	return true;
}

/* Like in Zipkin, one bad message fails the call. */
static void take_log(struct answer *answer)
{
	static const struct scribecall_terms none;

	if (take_messages(answer)) {
		scribecall_put_result(answer->reply, &answer->id, RESULT_OK, &none);
		return;
	}
	answer->service->refused++;
	scribecall_put_exception(
		answer->reply, &answer->id, SCRIBECALL_INTERNAL_ERROR, answer->call->refused);
}

static void tell_counters(struct answer *answer)
{
	const struct scribe_service *service = answer->service;
	const struct scribecall_counter counters[] = {
		{"messages", service->messages},
		{"messages_skipped", service->skipped},
		{"spans", service->spans},
		{"calls_refused", service->refused},
	};

	scribecall_put_counters(answer->reply, &answer->id, counters, sizeof(counters) / sizeof(*counters));
}

static void tell_details(struct answer *answer)
{
	g_autofree char *text =
		g_strdup_printf("printing the spans of category %s", answer->service->category);

	scribecall_put_text(answer->reply, &answer->id, text);
}

static void tell_unknown(struct answer *answer)
{
	g_autofree char *text = g_strdup_printf("unknown method %s", answer->id.method);

	scribecall_put_exception(answer->reply, &answer->id, SCRIBECALL_UNKNOWN_METHOD, text);
}

static void put_answer(struct answer *answer)
{
	struct buffer *reply = answer->reply;

	switch (answer->from.method) {
	case SCRIBECALL_LOG:
		take_log(answer);
		break;
	case SCRIBECALL_GET_NAME:
		scribecall_put_text(reply, &answer->id, "blkin collect");
		break;
	case SCRIBECALL_GET_VERSION:
		scribecall_put_text(reply, &answer->id, BLKIN_VERSION);
		break;
	case SCRIBECALL_GET_STATUS:
		scribecall_put_number(reply, &answer->id, TBINARY_I32, FB_ALIVE);
		break;
	case SCRIBECALL_GET_STATUS_DETAILS:
		tell_details(answer);
		break;
	case SCRIBECALL_GET_COUNTERS:
		tell_counters(answer);
		break;
	case SCRIBECALL_ALIVE_SINCE:
		scribecall_put_number(reply, &answer->id, TBINARY_I64, answer->service->alive_since);
		break;
	default:
		tell_unknown(answer);
	}
}

const char *scribe_call_answer(
	struct scribe_service *service, const void *frame, size_t size, struct scribe_call *call)
{
	struct answer answer = {.service = service, .call = call};
	struct buffer unheard = {0};

	if (!scribecall_read(&answer.from, frame, size, call->refused, sizeof(call->refused)))
		return call->refused;
	if (answer.from.head.method_size >= sizeof(answer.id.method)) {
		g_snprintf(call->refused, sizeof(call->refused), "a method's name of %u bytes",
			answer.from.head.method_size);
		return call->refused;
	}
	scribecall_identify(&answer.from, true, &answer.id);
	answer.id.strict = true; /* as Thrift's own servers, also to a client that is not */
	answer.reply = answer.from.wants_reply ? &call->reply : &unheard;
	put_answer(&answer);
	buffer_free(&unheard);
	return NULL;
}
