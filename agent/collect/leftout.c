/* SPDX-License-Identifier: BSD-2-Clause */
#include "collect/leftout.h"

#include "base/clock.h"
#include "handover/frames.h"

struct leftout {
	GArray *suspects; /* of struct suspect */
	int64_t begun;    /* what they wait is counted from here; CLOCK_MONOTONIC ns */
};

struct leftout *leftout_create(GArray *suspects)
{
	struct leftout *leftout = g_new0(struct leftout, 1);

	leftout->suspects = suspects;
	leftout->begun = clock_monotonic();
	return leftout;
}

void leftout_destroy(struct leftout *leftout)
{
	g_array_unref(leftout->suspects);
	g_free(leftout);
}

static const struct suspect *find(const struct leftout *leftout, uint64_t user)
{
	for (guint i = 0; i < leftout->suspects->len; i++) {
		const struct suspect *suspect = &g_array_index(leftout->suspects, struct suspect, i);

		if (suspect->user == user)
			return suspect;
	}
	return NULL;
}

static bool waits(const struct leftout *leftout, const struct suspect *suspect)
{
	return suspect->wait && clock_monotonic() - leftout->begun < suspect->wait;
}

bool leftout_empty(const struct leftout *leftout)
{
	return leftout->suspects->len == 0;
}

bool leftout_has(const struct leftout *leftout, uint64_t user)
{
	const struct suspect *suspect = find(leftout, user);

	return suspect && waits(leftout, suspect);
}

bool leftout_any(const struct leftout *leftout)
{
	for (guint i = 0; i < leftout->suspects->len; i++)
		if (waits(leftout, &g_array_index(leftout->suspects, struct suspect, i)))
			return true;
	return false;
}

bool leftout_suspects(const struct leftout *leftout, uint64_t user)
{
	return find(leftout, user) != NULL;
}

bool leftout_clear(struct leftout *leftout, uint64_t user)
{
	for (guint i = 0; i < leftout->suspects->len; i++)
		if (g_array_index(leftout->suspects, struct suspect, i).user == user) {
			g_array_remove_index_fast(leftout->suspects, i);
			return true;
		}
	return false;
}
