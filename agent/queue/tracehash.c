/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/tracehash.h"

#include <pthread.h>

#include "base/siphash.h"

static uint8_t key[SIPHASH_KEY_SIZE];

static void make_key(void)
{
	for (size_t i = 0; i < SIPHASH_KEY_SIZE; i++)
		key[i] = (uint8_t)g_random_int();
}

guint tracehash(gconstpointer id)
{
	static pthread_once_t made = PTHREAD_ONCE_INIT;

	pthread_once(&made, make_key);
	return (guint)siphash(key, id, sizeof(struct trace_id));
}

gboolean tracehash_equal(gconstpointer id, gconstpointer other)
{
	const struct trace_id *one = id, *two = other;

	return one->low == two->low && one->high == two->high;
}
