/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/clocksteps.h"

#include <string.h>

#include <glib.h>

#include "base/clock.h"

/* If two readings of a clock are further apart, they say little of another clock's reading between them. */
#define SHARP_NS (50 * 1000)
#define TRIES 5
/* In the saved number of steps: the boot's id follows them. A checkpoint of 0.1 has none. */
#define WITH_BOOT (UINT32_C(1) << 31)
/* The same for the clocks' offsets, behind the boot's id. */
#define WITH_OFFSETS (UINT32_C(1) << 30)

static void read_boot(uint8_t *boot)
{
	g_autofree char *text = NULL;
	size_t digits = 0;

	memset(boot, 0, CLOCK_BOOT);
	if (!g_file_get_contents("/proc/sys/kernel/random/boot_id", &text, NULL, NULL))
		return;
	for (const char *at = text; *at && digits < 2 * CLOCK_BOOT; at++)
		if (g_ascii_isxdigit(*at)) {
			boot[digits / 2] |= (uint8_t)(g_ascii_xdigit_value(*at) << (digits % 2 ? 0 : 4));
			digits++;
		}
}

/* Of this boot; zeros if the kernel does not tell. */
static const uint8_t *this_boot(void)
{
	static uint8_t boot[CLOCK_BOOT]; /* used by the thread that reads only */
	static bool known;

	if (!known)
		read_boot(boot);
	known = true;
	return boot;
}

static bool is_known(const uint8_t *boot)
{
	static const uint8_t none[CLOCK_BOOT];

	return memcmp(boot, none, CLOCK_BOOT) != 0;
}

/* Whether the table is of an earlier boot, whose clock was another one. Without ids, a clock that went back
 * tells. */
static bool is_foreign(const struct clock_steps *steps, int64_t now)
{
	bool knows = is_known(steps->boot) && is_known(this_boot());

	return now < steps->looked || (knows && memcmp(steps->boot, this_boot(), CLOCK_BOOT) != 0);
}

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

	if (is_foreign(steps, now))
		steps->count = 0;
	memcpy(steps->boot, this_boot(), CLOCK_BOOT);
	*by = steps->count ? offset - steps->step[steps->count - 1].offset : 0;
	steps->looked = now;
	if (!steps->count)
		add(steps, now, offset);
	if (*by<CLOCK_STEP_NS && * by> - CLOCK_STEP_NS)
		return false;
	add(steps, since, offset);
	return true;
}

/* The offset that held since @step. Its traces have measured it, too. */
static int64_t offset_since(struct clock_steps *steps, const struct clock_step *step)
{
	return is_known(steps->boot) ? clock_offsets_take(&steps->offsets, steps->boot, step->offset)
				     : step->offset;
}

int64_t clock_steps_time(struct clock_steps *steps, int64_t moment, int64_t traced)
{
	for (unsigned i = steps->count; i > 0; i--) {
		const struct clock_step *step = &steps->step[i - 1];
		int64_t time, error;

		if (moment < step->since)
			continue;
		if (__builtin_add_overflow(moment, step->offset, &time) ||
			__builtin_sub_overflow(time, traced, &error))
			return traced;
		if (error < CLOCK_STEP_NS && error > -CLOCK_STEP_NS)
			return traced;
		return __builtin_add_overflow(moment, offset_since(steps, step), &time) ? traced : time;
	}
	return traced; /* recorded before the first look */
}

void clock_steps_save(const struct clock_steps *steps, struct buffer *out)
{
	pack_u64(out, (uint64_t)steps->looked);
	pack_u32(out, steps->count | WITH_BOOT | WITH_OFFSETS);
	for (unsigned i = 0; i < steps->count; i++) {
		pack_u64(out, (uint64_t)steps->step[i].since);
		pack_u64(out, (uint64_t)steps->step[i].offset);
	}
	for (int i = 0; i < CLOCK_BOOT; i++)
		pack_u8(out, steps->boot[i]);
	clock_offsets_save(&steps->offsets, out);
}

bool clock_steps_load(struct clock_steps *steps, struct unpacker *from)
{
	int64_t looked = (int64_t)unpack_u64(from);
	uint32_t count = unpack_u32(from);
	bool with_boot = count & WITH_BOOT, with_offsets = count & WITH_OFFSETS;

	count &= ~(WITH_BOOT | WITH_OFFSETS);
	memset(steps, 0, sizeof(*steps));
	if (count > CLOCK_STEPS)
		from->failed = true;
	for (uint32_t i = 0; i < count && !from->failed; i++) {
		int64_t since = (int64_t)unpack_u64(from);

		add(steps, since, (int64_t)unpack_u64(from));
	}
	for (int i = 0; i < CLOCK_BOOT && with_boot; i++)
		steps->boot[i] = unpack_u8(from);
	if (with_offsets)
		clock_offsets_load(&steps->offsets, from);
	steps->looked = looked;
	if (from->failed)
		memset(steps, 0, sizeof(*steps));
	return !from->failed;
}
