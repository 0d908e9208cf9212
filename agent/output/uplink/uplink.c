/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/uplink/uplink.h"

#include "base/log.h"
#include "config/keys.h"
#include "config/outputtype.h"
#include "output/uplink/uplinktype.h"

/* It delivers nothing. */
const struct uplink_type uplink_type_none = {.create = NULL};

#define DECLARE(upper, lower) extern const struct uplink_type uplink_type_##lower;
OUTPUT_TYPES(DECLARE)
#undef DECLARE

#define ENTRY(upper, lower) [CONFIG_OUTPUT_##upper] = &uplink_type_##lower,
const struct uplink_type *const uplink_types[CONFIG_OUTPUT_TYPES] = {OUTPUT_TYPES(ENTRY)};
#undef ENTRY

enum batch_format uplink_format(const struct output_config *output, enum kind kind)
{
	static const enum batch_format formats[] = {
		[CONFIG_FORMAT_THRIFT] = BATCH_ZIPKIN_SPANS,
		[CONFIG_FORMAT_JSON2] = BATCH_ZIPKIN_JSON,
		[CONFIG_FORMAT_OTLP] = BATCH_OTLP_SPANS,
		/* which becomes JSON when it is written */
		[CONFIG_FORMAT_OTLP_JSON] = BATCH_OTLP_SPANS,
	};
	const struct uplink_type *type = uplink_types[output->type];

	if (kind == KIND_MESSAGES)
		return BATCH_MESSAGES;
	if (kind == KIND_EVENTS)
		return type->events;
	return output_type_of(output)->formats ? formats[output->format] : type->spans;
}

bool uplink_create_tls(const struct uplink_options *options, struct tls **tls)
{
	const struct output_config *is = options->is;
	const struct tls_options files = {is->tls_ca, is->tls_certificate, is->tls_key};
	char why[512];

	*tls = is->tls ? tls_create(&files, options->starting, why, sizeof(why)) : NULL;
	if (is->tls && !*tls)
		log_error("[%s]: %s", is->section, why);
	return !is->tls || *tls;
}

struct uplink *uplink_create(
	struct event_base *base, struct queue *queue, const struct uplink_options *options)
{
	return uplink_types[options->is->type]->create(base, queue, options);
}

void uplink_destroy(struct uplink *uplink)
{
	if (uplink)
		uplink->kind->destroy(uplink);
}

void uplink_wake(struct uplink *uplink)
{
	uplink->kind->wake(uplink);
}

void uplink_ask(struct uplink *uplink)
{
	if (uplink->kind->ask)
		uplink->kind->ask(uplink);
}

void uplink_when_drained(struct uplink *uplink, void (*done)(void *data), void *data)
{
	uplink->kind->when_drained(uplink, done, data);
}

void uplink_read_state(const struct uplink *uplink, struct uplink_state *state)
{
	uplink->kind->read_state(uplink, state);
}
