/* SPDX-License-Identifier: BSD-2-Clause */
#include "fanout_rig.h"

struct side one, other;

static void wake(void *data)
{
	(void)data;
}

void open_side(struct side *side, const char *name)
{
	struct queue_limits limits = {.bytes = 1 << 20};

	side->account = account_open(name);
	side->queue = queue_create(&limits, side->account, wake, NULL);
}

void open_sides(void)
{
	open_side(&one, "default");
	open_side(&other, "other");
}

void close_side(struct side *side)
{
	assert_balance(side->account);
	queue_unref(side->queue);
}

void close_sides(void)
{
	close_side(&one);
	close_side(&other);
}

struct outlet outlet_of(struct side *side, uint32_t spans, size_t bytes)
{
	return (struct outlet){side->queue, {KIND_SPANS, spans, bytes, 100}};
}

struct outlets *outlets_of(struct outlet first, struct outlet second)
{
	return outlets_create((struct outlet[]){first, second}, 2);
}

void flush_of(struct fanout *to, int64_t now, bool force)
{
	fanout_hand(to, &(struct ledger){0}, NULL, now, force);
}

void assert_rows(struct side *side, int64_t taken, int64_t queued, int64_t oversize)
{
	ck_assert_int_eq(row_of(side->account, SPANS_TAKEN), taken);
	ck_assert_int_eq(row_of(side->account, SPANS_QUEUED), queued);
	ck_assert_int_eq(row_of(side->account, SPANS_DROPPED_OVERSIZE), oversize);
}
