/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What holds for <blkin/context.h> whatever bytes come: the rules that the fuzzer (fuzz_context.c) and the
 * unit test (unit/test_context.c) share. Each returns NULL, or what does not hold.
 */
#ifndef CONTEXT_RULES_H
#define CONTEXT_RULES_H

#include <stdlib.h>
#include <string.h>

#include <blkin/blkin.h>

#define RULE(holds)                                                                                          \
	do {                                                                                                 \
		if (!(holds))                                                                                \
			return #holds;                                                                       \
	} while (0)

#define RULE_CANARY 0x5a
#define RULE_ROOM 600 /* larger than any buffer that an inject function needs */

/* A form in which a context travels as one text. */
struct rule_form {
	int (*extract)(struct blkin_context *context, const char *text, size_t size);
	size_t (*inject)(const struct blkin_context *context, char *text);
	size_t room;
};

static inline struct rule_form rule_b3(void)
{
	return (struct rule_form){blkin_context_extract_b3, blkin_context_inject_b3, BLKIN_B3_SIZE};
}

static inline struct rule_form rule_traceparent(void)
{
	return (struct rule_form){
		blkin_context_extract_traceparent, blkin_context_inject_traceparent, BLKIN_TRACEPARENT_SIZE};
}

/* A context that nothing would set; an error must leave it so. */
static inline struct blkin_context rule_untouched(void)
{
	struct blkin_context context;

	memset(&context, RULE_CANARY, sizeof(context));
	return context;
}

/* Equal, but for the id of a trace without a span, which is made up wherever a bare decision is read. */
static inline int rule_same(const struct blkin_context *one, const struct blkin_context *other)
{
	struct blkin_context a = *one, b = *other;

	if (a.trace_id && b.trace_id && !a.span_id && !b.span_id)
		a.trace_id = b.trace_id = a.trace_id_high = b.trace_id_high = 0;
	return memcmp(&a, &b, sizeof(a)) == 0;
}

/* A context that came from outside is one of those that context.h lists. */
static inline const char *rule_sound(const struct blkin_context *context)
{
	int sampled = context->trace_id && !context->deferred;

	RULE(!(context->trace_id && context->unsampled_id));
	RULE(context->debug == 0 || context->debug == 1);
	RULE(context->deferred == 0 || context->deferred == 1);
	RULE(!context->debug || sampled);
	RULE(!context->deferred || !context->unsampled_id);
	RULE(context->span_id || !context->parent_id);
	RULE(context->span_id || sampled || !(context->trace_id | context->unsampled_id));
	RULE(!(context->span_id || context->trace_id_high) || context->trace_id || context->unsampled_id);
	return NULL;
}

/* Writes @context in @form at @text, of RULE_ROOM bytes: within its room, and ended by NUL. */
static inline const char *rule_inject(
	const struct rule_form *form, const struct blkin_context *context, char *text, size_t *size)
{
	memset(text, RULE_CANARY, RULE_ROOM);
	*size = form->inject(context, text);
	RULE(*size < form->room);
	RULE(strlen(text) == *size);
	for (size_t i = form->room; i < RULE_ROOM; i++)
		RULE(text[i] == RULE_CANARY);
	return NULL;
}

/* What is read is sound, and reads the same once more when it is written again. */
static inline const char *rule_text(const struct rule_form *form, const char *text, size_t size)
{
	struct blkin_context context = rule_untouched(), again = rule_untouched();
	const struct blkin_context untouched = rule_untouched();
	const char *broken;
	char out[RULE_ROOM];
	int result = form->extract(&context, text, size);

	RULE(result == 0 || result == -EINVAL);
	if (result) {
		RULE(memcmp(&context, &untouched, sizeof(context)) == 0);
		return NULL;
	}
	broken = rule_sound(&context);
	if (!broken)
		broken = rule_inject(form, &context, out, &size);
	if (broken)
		return broken;
	RULE(size > 0);
	RULE(form->extract(&again, out, size) == 0);
	RULE(rule_same(&context, &again));
	return NULL;
}

static inline const char *rule_packed(const void *data, size_t size)
{
	struct blkin_context context = rule_untouched();
	const struct blkin_context untouched = rule_untouched();
	struct blkin_context_packed packed;
	int result = blkin_context_unpack(&context, data, size);

	RULE(result == 0 || result == -EINVAL);
	if (result) {
		RULE(memcmp(&context, &untouched, sizeof(context)) == 0);
		return NULL;
	}
	RULE(size == sizeof(packed));
	blkin_context_pack(&context, &packed);
	RULE(memcmp(&packed, data, sizeof(packed)) == 0);
	return rule_sound(&context);
}

/* The next of the values that stand in lines; one of "!" is a header that did not come. */
static inline struct blkin_b3_value rule_next_value(const char **text, const char *end)
{
	struct blkin_b3_value value = {*text, 0};
	const char *line;

	if (!*text)
		return value;
	line = *text == end ? NULL : (const char *)memchr(*text, '\n', (size_t)(end - *text));
	value.size = (size_t)((line ? line : end) - *text);
	*text = line ? line + 1 : NULL;
	if (value.size == 1 && *value.text == '!')
		value.text = NULL;
	return value;
}

static inline struct blkin_b3_value rule_sent(const char *text)
{
	return (struct blkin_b3_value){*text ? text : NULL, strlen(text)};
}

static inline struct blkin_b3_received rule_receive(const struct blkin_b3_headers *headers)
{
	return (struct blkin_b3_received){rule_sent(headers->trace_id), rule_sent(headers->span_id),
		rule_sent(headers->parent_id), rule_sent(headers->sampled), rule_sent(headers->flags)};
}

/* The same as rule_text for the five headers, whose values are the lines of @text: ids, sampled, flags. */
static inline const char *rule_b3_multi(const char *text, size_t size)
{
	struct blkin_context context = rule_untouched(), again = rule_untouched();
	const struct blkin_context untouched = rule_untouched();
	struct blkin_b3_received received;
	struct blkin_b3_headers headers;
	const char *end = text + size;
	int result;

	received.trace_id = rule_next_value(&text, end);
	received.span_id = rule_next_value(&text, end);
	received.parent_id = rule_next_value(&text, end);
	received.sampled = rule_next_value(&text, end);
	received.flags = rule_next_value(&text, end);
	result = blkin_context_extract_b3_multi(&context, &received);
	RULE(result == 0 || result == -EINVAL);
	if (result) {
		RULE(memcmp(&context, &untouched, sizeof(context)) == 0);
		return NULL;
	}
	RULE(blkin_context_inject_b3_multi(&context, &headers) > 0);
	received = rule_receive(&headers);
	RULE(blkin_context_extract_b3_multi(&again, &received) == 0);
	RULE(rule_same(&context, &again));
	return rule_sound(&context);
}

static inline const char *rule_tracestate(const char *text, size_t size)
{
	struct blkin_tracestate state = {NULL, 0};
	char out[RULE_ROOM];

	if (blkin_tracestate_extract(&state, text, size)) {
		RULE(!state.text && !state.size);
		return NULL;
	}
	RULE(state.text == text && state.size == size);
	RULE(size <= 512);
	memset(out, RULE_CANARY, sizeof(out));
	RULE(blkin_tracestate_inject(&state, out) == size);
	RULE(size == 0 || memcmp(out, text, size) == 0);
	RULE(out[size] == '\0' && out[BLKIN_TRACESTATE_SIZE] == RULE_CANARY);
	for (size_t i = 0; i < size; i++)
		RULE(out[i] == '\t' || (out[i] >= 0x20 && out[i] < 0x7f));
	return NULL;
}

/*
 * Whatever a program wrote into a context: each format of it fits its buffer, and its own reader accepts it.
 */
static inline const char *rule_any_context(const struct blkin_context *context)
{
	const struct rule_form forms[] = {rule_b3(), rule_traceparent()};
	struct blkin_context read;
	struct blkin_context_packed packed;
	struct blkin_b3_received received;
	struct blkin_b3_headers headers;
	char out[RULE_ROOM];
	size_t size;

	for (size_t i = 0; i < 2; i++) {
		const char *broken = rule_inject(&forms[i], context, out, &size);

		if (broken)
			return broken;
		RULE(size ? forms[i].extract(&read, out, size) == 0
			  : blkin_context_decision(context) == BLKIN_DECISION_DEFER);
	}
	if (blkin_context_inject_b3_multi(context, &headers)) {
		received = rule_receive(&headers);
		RULE(blkin_context_extract_b3_multi(&read, &received) == 0);
	}
	blkin_context_pack(context, &packed);
	RULE(blkin_context_unpack(&read, &packed, sizeof(packed)) == 0);
	RULE(blkin_context_decision(&read) == blkin_context_decision(context));
	return NULL;
}

/* All of them. */
static inline const char *rule_all(const char *data, size_t size)
{
	const struct rule_form b3 = rule_b3(), traceparent = rule_traceparent();
	struct blkin_context context;
	const char *broken = rule_text(&b3, data, size);

	if (!broken)
		broken = rule_text(&traceparent, data, size);
	if (!broken)
		broken = rule_b3_multi(data, size);
	if (!broken)
		broken = rule_tracestate(data, size);
	if (!broken)
		broken = rule_packed(data, size);
	if (broken || size < sizeof(context))
		return broken;
	memcpy(&context, data, sizeof(context));
	return rule_any_context(&context);
}

#endif
