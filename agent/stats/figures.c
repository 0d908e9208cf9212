/* SPDX-License-Identifier: BSD-2-Clause */
#include "stats/figures.h"

#include <math.h>

#include "base/clock.h"
#include "base/json.h"

#define NS_PER_US 1000.0

double figures_time(const struct snapshot *snapshot)
{
	double sum = 0;

	for (guint i = 0; i < snapshot->series->len; i++)
		sum += (double)g_array_index(snapshot->series, struct series, i).sum;
	return sum;
}

static double rate_of(uint64_t spans, int64_t age)
{
	return age > 0 ? (double)spans * NS_PER_SECOND / (double)age : 0;
}

static double mean_of(uint64_t sum, uint64_t timed)
{
	return timed ? (double)sum / (double)timed / NS_PER_US : NAN;
}

static double quantile_of(const struct series *series, double quantile)
{
	if (!series->timed)
		return NAN;
	return MIN(histogram_quantile(&series->histogram, quantile), (double)series->max) / NS_PER_US;
}

void figures_of_series(struct figures *figures, const struct series *series, int64_t age, double all)
{
	*figures = (struct figures){
		.count = series->spans,
		.errors = series->errors,
		.rate = rate_of(series->spans, age),
		.mean = mean_of(series->sum, series->timed),
		.p50 = quantile_of(series, 0.5),
		.p99 = quantile_of(series, 0.99),
		.max = series->timed ? (double)series->max / NS_PER_US : NAN,
		.rough = !series->fine,
		.share = all > 0 ? (double)series->sum / all : 0,
	};
}

void figures_of_program(struct figures *figures, const struct program *program, int64_t age, double all)
{
	*figures = (struct figures){
		.count = program->spans,
		.errors = program->errors,
		.rate = rate_of(program->spans, age),
		.mean = mean_of(program->sum, program->timed),
		.p50 = NAN,
		.p99 = NAN,
		.max = program->timed && program->max != SNAPSHOT_MAX_UNKNOWN
			       ? (double)program->max / NS_PER_US
			       : NAN,
		.share = all > 0 ? (double)program->sum / all : 0,
	};
}

static void put_text(struct buffer *out, const char *key, const char *text)
{
	json_key(out, key);
	if (text)
		json_text(out, text);
	else
		json_null(out);
}

static void put_double(struct buffer *out, const char *key, double value)
{
	json_key(out, key);
	json_double(out, value); /* NAN is null */
}

static void put_int(struct buffer *out, const char *key, uint64_t value)
{
	json_key(out, key);
	json_int(out, (int64_t)value);
}

static void put_known(struct buffer *out, const char *key, bool known, uint32_t value)
{
	json_key(out, key);
	if (known)
		json_int(out, value);
	else
		json_null(out);
}

void figures_put_one(
	struct buffer *out, const struct series *series, const struct figures *figures, const char *state)
{
	json_open(out, '{');
	put_text(out, "service", series->service);
	put_text(out, "span", series->name);
	put_int(out, "count", figures->count);
	put_double(out, "rate", figures->rate);
	put_double(out, "mean", figures->mean);
	put_double(out, "p50", figures->p50);
	put_double(out, "p99", figures->p99);
	put_double(out, "max", figures->max);
	put_int(out, "errors", figures->errors);
	put_double(out, "share", figures->share);
	put_text(out, "state", state);
	json_close(out, '}');
}

void figures_put_programs(struct buffer *out, const struct snapshot *snapshot)
{
	double all = figures_time(snapshot);

	json_open(out, '[');
	for (guint i = 0; i < snapshot->programs->len; i++) {
		const struct program *program = &g_array_index(snapshot->programs, struct program, i);
		struct figures figures;

		figures_of_program(&figures, program, snapshot->age, all);
		json_open(out, '{');
		put_text(out, "program", program->name);
		put_known(out, "pid", program->pid != 0, program->pid);
		put_known(out, "user", program->user != UINT32_MAX && program->name, program->user);
		put_int(out, "count", figures.count);
		put_double(out, "rate", figures.rate);
		put_double(out, "mean", figures.mean);
		put_double(out, "max", figures.max);
		put_int(out, "errors", figures.errors);
		put_double(out, "share", figures.share);
		json_close(out, '}');
	}
	json_close(out, ']');
}
