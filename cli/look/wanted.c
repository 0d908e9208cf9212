/* SPDX-License-Identifier: BSD-2-Clause */
#include "look/wanted.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

bool wanted_duration(const char *text, int64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = {
		{"ns", 1}, {"us", 1e3}, {"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}, {"min", 60e9}, {"h", 3600e9}};
	char *end;
	double number = g_ascii_strtod(text, &end);

	for (size_t i = 0; end != text && i < G_N_ELEMENTS(units); i++) {
		if (strcmp(end + strspn(end, " "), units[i].name) != 0 || !(number >= 0) ||
			number * units[i].ns > 1e18)
			continue;
		*ns = (int64_t)(number * units[i].ns);
		return true;
	}
	log_error("a duration is a number and a unit, such as 250us, 20ms or 1.5s, not %s", text);
	return false;
}

static bool is_hex(const char *text)
{
	return *text && !text[strspn(text, "0123456789abcdefABCDEF")];
}

bool wanted_trace(struct wanted *wanted, const char *text)
{
	size_t size = strlen(text), low = size > 16 ? size - 16 : 0;
	g_autofree char *high = g_strndup(text, low);

	wanted->filter.trace = g_ascii_strtoull(text + low, NULL, 16);
	wanted->trace_high = g_ascii_strtoull(high, NULL, 16);
	if (size <= 32 && is_hex(text) && wanted->filter.trace)
		return true;
	log_error("--trace takes a trace's id, of up to 32 hexadecimal digits, not %s", text);
	return false;
}

static const char *value_of(const struct span2 *span, const char *key, size_t size)
{
	for (guint i = 0; i < span->tags->len; i++) {
		const struct span2_tag *tag = &g_array_index(span->tags, struct span2_tag, i);

		if (strlen(tag->key) == size && !memcmp(tag->key, key, size))
			return tag->value;
	}
	return NULL;
}

bool wanted_has_error(const struct span2 *span)
{
	return value_of(span, "error", strlen("error")) != NULL;
}

static bool has_tag(const struct span2 *span, const char *tag)
{
	const char *sign = strchr(tag, '='), *value = value_of(span, tag, strcspn(tag, "="));

	return value && (!sign || !strcmp(value, sign + 1));
}

/* The span has whole microseconds. */
static bool is_long(const struct span2 *span, int64_t ns)
{
	return !ns || (span->duration && span->duration >= ns / 1000);
}

bool wanted_takes(const struct wanted *wanted, const struct span2 *span)
{
	const struct tail_filter *filter = &wanted->filter;
	const char *service = span->local && span->local->service ? span->local->service : "";

	if ((*filter->service && !tail_filter_matches(filter->service, service)) ||
		(*filter->name && !tail_filter_matches(filter->name, span->name ? span->name : "")))
		return false;
	if ((filter->errors && !wanted_has_error(span)) || !is_long(span, filter->min_duration))
		return false;
	if ((filter->trace && span->trace_id != filter->trace) ||
		(wanted->trace_high && span->trace_id_high != wanted->trace_high))
		return false;
	for (guint i = 0; wanted->tags && i < wanted->tags->len; i++)
		if (!has_tag(span, g_ptr_array_index(wanted->tags, i)))
			return false;
	return true;
}

bool wanted_takes_any(const void *data, const GPtrArray *spans)
{
	for (guint i = 0; i < spans->len; i++)
		if (wanted_takes(data, g_ptr_array_index(spans, i)))
			return true;
	return false;
}
