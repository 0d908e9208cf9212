/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tags of spans that came from anybody, as `drop-tags`, `rename-tags` and `redact` have them. The first byte
 * says which rules, the second the format, and whether OTLP's names of the remote endpoint are tags; the rest
 * is the item. What is no span becomes nothing; what is changed is still a span, stays as it is the next
 * time, and has no tag that must not be there, also as OTLP where that is sent.
 */
#include "fuzz.h"

#include <string.h>

#include <glib.h>

#include "queue/format.h"
#include "queue/item.h"
#include "queue/retag.h"

static const char *const rules_of[][3] = {
	{"secret*", "", ""},
	{"", "old:new,key:other", ""},
	{"", "", "user,*name"},
	{"*", "", ""},
	{"", "", "*"},
	{"error", "", "db.*"},
	{"*a*", "b:c", "d"},
	{"", "a:b", "a*"},
	{"http.*,sa,ca", "peer.service:peer", "error"},
	{"otel.status_description", "error:failure", "*"},
};

static const enum batch_format formats[] = {
	BATCH_ZIPKIN_SPANS, BATCH_ZIPKIN_JSON, BATCH_OTLP_SPANS, BATCH_SPAN_RECORDS};

static struct span_memory seen;

static bool is_span(const struct batch *batch, struct span *span)
{
	return item_read(span, batch->format, batch->spans.data, batch->spans.size, &seen);
}

static void hold_tags(const struct tag *tags, size_t count, const struct tagrules *rules)
{
	for (size_t i = 0; i < count; i++)
		fuzz_hold(!tagrules_find(rules, tags[i].key, tags[i].value).dropped,
			"no tag is there that is to be dropped");
}

static void hold_allowed(const struct span *span, const struct tagrules *rules)
{
	const struct span_more *more = span->more;

	hold_tags(span->tags, span->tag_count, rules);
	if (!more)
		return;
	hold_tags(more->scope.tags, more->scope.count, rules);
	hold_tags(more->resource.tags, more->resource.count, rules);
	for (size_t i = 0; i < more->link_count; i++)
		hold_tags(more->links[i].attributes.tags, more->links[i].attributes.count, rules);
	for (size_t i = 0; more->of_annotations && i < span->annotation_count; i++)
		hold_tags(more->of_annotations[i].tags, more->of_annotations[i].count, rules);
}

/* One item, in memory of just its size. */
static struct batch *batch_of(enum batch_format format, const uint8_t *data, size_t size)
{
	struct batch *batch = batch_create(format, 0, 0);

	buffer_free(&batch->spans);
	batch->spans = (struct buffer){.data = g_memdup2(data, size), .size = size, .room = size};
	batch_added(batch, size, 1);
	return batch;
}

static void hold_unchanged(const struct batch *batch, const struct tagrules *rules, bool names)
{
	struct retag_counts counts = {0};

	fuzz_hold(!retag(batch, rules, names, &counts), "once changed is changed for good");
	fuzz_hold(!(counts.dropped || counts.renamed || counts.redacted), "what is counted is changed");
}

/* Its attributes, but for what OpenTelemetry's own spans have beside. */
static void hold_sent(const struct span *span, const struct tagrules *rules)
{
	struct batch *sent = batch_create(BATCH_OTLP_SPANS, 0, 0);
	int repaired = format_encode(BATCH_OTLP_SPANS, &sent->spans, span);

	batch_added(sent, sent->spans.size, 1);
	/* what has no ids cannot be read of it */
	if (repaired >= 0 && !span->more && span->id && (span->trace_id || span->trace_id_high))
		hold_unchanged(sent, rules, true);
	batch_unref(sent);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *const *said;
	const struct tagrules *rules;
	struct retag_counts counts = {0};
	struct batch *items, *changed;
	struct span span;
	bool was, names;

	if (size < 3)
		return -1;
	said = rules_of[data[0] % G_N_ELEMENTS(rules_of)];
	rules = tagrules_intern(said[0], said[1], said[2], "");
	items = batch_of(formats[data[1] % G_N_ELEMENTS(formats)], data + 2, size - 2);
	names = data[1] / G_N_ELEMENTS(formats) % 2;
	was = is_span(items, &span);
	changed = retag(items, rules, names, &counts);
	if (!was) {
		fuzz_hold(changed && !changed->spans.size, "what cannot be read is not kept");
	} else if (changed) {
		fuzz_hold(counts.dropped || counts.renamed || counts.redacted, "what is changed is counted");
		fuzz_hold(is_span(changed, &span), "a span is one afterwards");
		hold_unchanged(changed, rules, names);
	} else {
		fuzz_hold(
			!(counts.dropped || counts.renamed || counts.redacted), "what is counted is changed");
	}
	if (was) {
		hold_allowed(&span, rules);
		if (names)
			hold_sent(&span, rules);
	}
	batch_unref(items);
	batch_unref(changed);
	return 0;
}
