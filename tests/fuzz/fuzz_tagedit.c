/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Tags of spans that came from anybody, as `drop-tags`, `rename-tags` and `redact` have them. The first byte
 * says which rules, the second the format, and the rest is the item. What is changed is still a span if it
 * was one; but for OTLP, which is this agent's own and may have a field twice here, it stays as it is the
 * next time, and has no tag that must not be there.
 */
#include "fuzz.h"

#include <string.h>

#include <glib.h>

#include "encode/tagedit.h"
#include "queue/transcode.h"

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

typedef enum tagedit_result edits(struct buffer *out, struct text item, const struct tagrules *rules,
	struct tagedit_memory *memory, struct tagedit_counts *counts);

static edits *const edit_of[BATCH_SPAN_FORMATS] = {
	[BATCH_ZIPKIN_SPANS] = tagedit_thrift,
	[BATCH_ZIPKIN_JSON] = tagedit_json,
	[BATCH_OTLP_SPANS] = tagedit_otlp,
};

static struct tagedit_memory memory;
static struct span_memory seen;
static struct buffer out, again;

static bool is_span(uint8_t format, struct text item, struct span *span)
{
	return transcode_read(span, format, (const uint8_t *)item.data, item.size, &seen);
}

/* Of OTLP, the process may have attributes that are read as tags: the output's own, which are spared. */
static void hold_allowed(uint8_t format, const struct span *span, const struct tagrules *rules)
{
	for (size_t i = 0; format != BATCH_OTLP_SPANS && i < span->tag_count; i++) {
		struct tagfate fate = tagrules_find(rules, span->tags[i].key, span->tags[i].value);

		fuzz_hold(!fate.dropped, "no tag is there that is to be dropped");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *const *said;
	const struct tagrules *rules;
	struct tagedit_counts counts = {0}, more = {0};
	enum tagedit_result result;
	struct text item, changed;
	struct span span;
	uint8_t format;
	bool was;

	if (size < 2)
		return -1;
	said = rules_of[data[0] % G_N_ELEMENTS(rules_of)];
	rules = tagrules_intern(said[0], said[1], said[2], "");
	format = data[1] % BATCH_SPAN_FORMATS;
	item = (struct text){(const char *)data + 2, (uint32_t)size - 2};
	was = is_span(format, item, &span);
	out.size = again.size = 0;
	result = edit_of[format](&out, item, rules, &memory, &counts);
	fuzz_hold(result == TAGEDIT_CHANGED || !out.size, "what is not changed is not written");
	fuzz_hold(result == TAGEDIT_CHANGED || !(counts.dropped || counts.renamed || counts.redacted),
		"what is counted is changed");
	if (result != TAGEDIT_CHANGED) {
		if (result == TAGEDIT_SAME && was)
			hold_allowed(format, &span, rules);
		return 0;
	}
	changed = (struct text){(const char *)out.data, (uint32_t)out.size};
	result = edit_of[format](&again, changed, rules, &memory, &more);
	fuzz_hold(result == TAGEDIT_SAME || format == BATCH_OTLP_SPANS, "once changed is changed for good");
	fuzz_hold(!was || is_span(format, changed, &span), "a span is one afterwards");
	if (was)
		hold_allowed(format, &span, rules);
	return 0;
}
