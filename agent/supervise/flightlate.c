/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervise/flightlate.h"

#include <math.h>

#include "config/thresholds.h"

/* What is known of a series: looking through all lines of [thresholds] takes a while. */
struct known {
	bool is;
	uint32_t era;
	double limit; /* ns; INFINITY: none */
	bool any;     /* it has limits: an error is late, too */
};

struct flight_late {
	GPtrArray *thresholds;
	double least; /* no limit is below; most spans are */
	bool any;     /* there are limits */
	struct known *known;
};

static double limit_of(const struct limits *limits)
{
	if (limits->of[LIMIT_P99] >= 0)
		return limits->of[LIMIT_P99];
	return limits->of[LIMIT_MEAN] >= 0 ? limits->of[LIMIT_MEAN] : INFINITY;
}

struct flight_late *flight_late_create(void)
{
	struct flight_late *late = g_new0(struct flight_late, 1);

	late->least = INFINITY;
	return late;
}

void flight_late_destroy(struct flight_late *late)
{
	g_clear_pointer(&late->thresholds, g_ptr_array_unref);
	g_free(late->known);
	g_free(late);
}

void flight_late_configure(struct flight_late *late, GPtrArray *thresholds)
{
	g_clear_pointer(&late->thresholds, g_ptr_array_unref);
	g_clear_pointer(&late->known, g_free);
	late->thresholds = thresholds;
	late->least = INFINITY;
	late->any = false;
	for (guint i = 0; i < thresholds->len; i++) {
		const struct threshold *line = thresholds->pdata[i];
		const double *of = line->limits.of;

		late->any |= !line->none && limits_any(&line->limits);
		/* of one line the mean may be the only one, and another line has the percentile */
		for (int limit = LIMIT_MEAN; limit <= LIMIT_P99; limit++)
			if (!line->none && of[limit] >= 0)
				late->least = MIN(late->least, of[limit]);
	}
}

static const struct known *find_limit(
	struct flight_late *late, const struct namer *namer, const struct items *spans, uint32_t i)
{
	static const struct known none = {.limit = INFINITY};
	const char *service, *name;
	uint32_t era, number = statistics_series_of(namer, spans, i, &service, &name, &era);
	struct known *known;

	if (!service || !name)
		return &none;
	if (!late->known)
		late->known = g_new0(struct known, STATISTICS_SERIES_MAX + 1);
	known = &late->known[number];
	if (!known->is || known->era != era) {
		struct limits limits = thresholds_find(late->thresholds, service, name);

		*known = (struct known){true, era, limit_of(&limits), limits_any(&limits)};
	}
	return known;
}

bool flight_late_is(
	struct flight_late *late, const struct namer *namer, const struct items *spans, uint32_t i)
{
	const struct trait *trait = &spans->traits[i];
	double duration = (double)trait->duration;
	const struct known *known;

	if (!trait->trace_id || !(duration > late->least || (trait->error && late->any)))
		return false;
	known = find_limit(late, namer, spans, i);
	return duration > known->limit || (trait->error && known->any);
}
