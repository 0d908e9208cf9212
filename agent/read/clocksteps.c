/* SPDX-License-Identifier: BSD-2-Clause */
#include "read/clocksteps.h"

#include "base/clock.h"

#define STEP_NS (1 * NS_PER_MS)
/* If two readings of a clock are further apart, they say little of another clock's reading between them. */
#define SHARP_NS (50 * 1000)
#define TRIES 5

/* Reads the wall clock's offset as of one moment: where it was interrupted, the sharpest of some tries. */
static int64_t read_offset(int64_t *moment)
{
	int64_t best = INT64_MAX, offset = 0;

	for (int i = 0; i < TRIES && best > SHARP_NS; i++) {
		int64_t before = clock_monotonic(), wall = clock_wall(), after = clock_monotonic();

		if (after - before < best) {
			best = after - before;
			offset = wall - (before + (after - before) / 2);
			*moment = before;
		}
	}
	return offset;
}

static void add(struct clock_steps *steps, int64_t since, int64_t offset)
{
	if (steps->count == CLOCK_STEPS) {
		memmove(steps->step, steps->step + 1, (CLOCK_STEPS - 1) * sizeof(*steps->step));
		steps->count--;
	}
	steps->step[steps->count++] = (struct clock_step){since, offset};
}

bool clock_steps_look(struct clock_steps *steps, int64_t *by)
{
	int64_t now = 0, offset = read_offset(&now), since = steps->looked;

	/* the table is from an earlier boot, whose clock was another one */
	if (now < since)
		steps->count = 0;
	*by = steps->count ? offset - steps->step[steps->count - 1].offset : 0;
	steps->looked = now;
	if (!steps->count)
		add(steps, now, offset);
	if (*by<STEP_NS && * by> - STEP_NS)
		return false;
	add(steps, since, offset);
	return true;
}

int64_t clock_steps_time(const struct clock_steps *steps, int64_t moment, int64_t traced)
{
	for (unsigned i = steps->count; i > 0; i--) {
		const struct clock_step *step = &steps->step[i - 1];
		int64_t time, error;

		if (moment < step->since)
			continue;
		if (__builtin_add_overflow(moment, step->offset, &time) ||
			__builtin_sub_overflow(time, traced, &error))
			return traced;
		return error < STEP_NS && error > -STEP_NS ? traced : time;
	}
	return traced; /* recorded before the first look */
}

void clock_steps_save(const struct clock_steps *steps, struct buffer *out)
{
	pack_u64(out, (uint64_t)steps->looked);
	pack_u32(out, steps->count);
	for (unsigned i = 0; i < steps->count; i++) {
		pack_u64(out, (uint64_t)steps->step[i].since);
		pack_u64(out, (uint64_t)steps->step[i].offset);
	}
}

bool clock_steps_load(struct clock_steps *steps, struct unpacker *from)
{
	int64_t looked = (int64_t)unpack_u64(from);
	uint32_t count = unpack_u32(from);

	memset(steps, 0, sizeof(*steps));
	if (count > CLOCK_STEPS)
		from->failed = true;
	for (uint32_t i = 0; i < count && !from->failed; i++) {
		int64_t since = (int64_t)unpack_u64(from);

		add(steps, since, (int64_t)unpack_u64(from));
	}
	steps->looked = looked;
	if (from->failed)
		memset(steps, 0, sizeof(*steps));
	return !from->failed;
}
