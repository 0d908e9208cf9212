/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/h2meter.h"

#include <string.h>

#include <glib.h>

#include "base/clock.h"

/* What a second gives back, and a call: one has HEADERS, perhaps a WINDOW_UPDATE, a PING that measures the
 * line, and its end. */
#define PER_SECOND 50
#define PER_CALL 10
/* What may be spent at once. */
#define MOST 1000
/* Data of fewer bytes is work without gain, unless it is the end. */
#define LITTLE_DATA 16
/* A stream that is taken back may have been work already. */
#define RESET_COST 5
/* 16 KiB of headers, which is what a call may have, need none. */
#define CONTINUATIONS_MAX 4
/* Nor do they take more, however they are packed; some more is let through, so that a call that has it can be
 * told. */
#define HEADERS_MAX (24 * 1024)

#define UNIT (NS_PER_SECOND / PER_SECOND)

enum frame { DATA = 0, HEADERS = 1, RST_STREAM = 3, CONTINUATION = 9 };
#define FLAG_END_STREAM 1
#define FLAG_END_HEADERS 4

static int64_t cost_of(const struct h2meter *meter)
{
	enum frame type = (enum frame)meter->head[3];
	bool ends = meter->head[4] & FLAG_END_STREAM;

	if (type == DATA)
		return meter->left <= LITTLE_DATA && !ends;
	return type == RST_STREAM ? RESET_COST : 1;
}

/* So many bytes of a frame's payload are there. */
static void take_payload(struct h2meter *meter, size_t size)
{
	meter->left -= (uint32_t)size;
	if (meter->in_headers)
		meter->headers += size;
	if (!meter->left && meter->ends_headers)
		meter->headers = 0;
}

static bool take_head(struct h2meter *meter)
{
	enum frame type = (enum frame)meter->head[3];

	meter->left = (uint32_t)meter->head[0] << 16 | (uint32_t)meter->head[1] << 8 | meter->head[2];
	meter->head_size = 0;
	meter->continuations = type == CONTINUATION ? meter->continuations + 1 : 0;
	meter->announced = type == CONTINUATION ? meter->announced + meter->left : meter->left;
	meter->in_headers = type == HEADERS || type == CONTINUATION;
	meter->ends_headers = meter->in_headers && meter->head[4] & FLAG_END_HEADERS;
	take_payload(meter, 0);
	meter->spent += cost_of(meter) * UNIT;
	return meter->spent <= MOST * UNIT && meter->continuations <= CONTINUATIONS_MAX &&
	       (!meter->in_headers || meter->announced <= HEADERS_MAX);
}

static void settle(struct h2meter *meter, int64_t now)
{
	if (meter->settled)
		meter->spent = MAX(meter->spent - (now - meter->settled), 0);
	meter->settled = now;
}

bool h2meter_count(struct h2meter *meter, const uint8_t *data, size_t size, int64_t now)
{
	size_t step;

	settle(meter, now);
	step = MIN(size, H2METER_PREFACE - meter->preface);
	meter->preface += step;
	for (data += step, size -= step; size; data += step, size -= step) {
		if (meter->left) {
			step = MIN(size, meter->left);
			take_payload(meter, step);
			continue;
		}
		step = MIN(size, sizeof(meter->head) - meter->head_size);
		memcpy(meter->head + meter->head_size, data, step);
		meter->head_size += (unsigned)step;
		if (meter->head_size == sizeof(meter->head) && !take_head(meter))
			return false;
	}
	return true;
}

void h2meter_reward(struct h2meter *meter)
{
	meter->spent = MAX(meter->spent - PER_CALL * UNIT, 0);
}
