/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/numbers.h"

#include <glib.h>

#define THREADS_MAX 65536
/* Of so many namespaces with a thread of one number. */
#define NAMESAKES_MAX 16

struct known {
	int64_t pid, kernel;
};

struct numbers {
	GHashTable *threads; /* GArray of struct known, by a thread's number as its program sees it */
};

static void unref(void *known)
{
	g_array_unref(known);
}

struct numbers *numbers_create(void)
{
	struct numbers *numbers = g_new0(struct numbers, 1);

	numbers->threads = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, unref);
	return numbers;
}

void numbers_destroy(struct numbers *numbers)
{
	g_hash_table_unref(numbers->threads);
	g_free(numbers);
}

void numbers_learn(struct numbers *numbers, const struct kernel_event *event)
{
	const struct known new = {event->vpid, event->tid};
	GArray *known;

	if (event->tid == KERNEL_UNKNOWN || event->vtid == KERNEL_UNKNOWN || !event->tid)
		return;
	known = g_hash_table_lookup(numbers->threads, &event->vtid);
	if (!known && g_hash_table_size(numbers->threads) >= THREADS_MAX)
		return;
	if (!known) {
		known = g_array_new(FALSE, FALSE, sizeof(struct known));
		g_hash_table_insert(numbers->threads, g_memdup2(&event->vtid, sizeof(event->vtid)), known);
	}
	for (guint i = 0; i < known->len; i++) {
		const struct known *old = &g_array_index(known, struct known, i);

		if (old->kernel == new.kernel && old->pid == new.pid)
			return;
	}
	if (known->len < NAMESAKES_MAX)
		g_array_append_val(known, new);
}

int64_t numbers_find(const struct numbers *numbers, int64_t pid, int64_t tid)
{
	const GArray *known = g_hash_table_lookup(numbers->threads, &tid);
	int64_t found = NUMBER_UNKNOWN;

	for (guint i = 0; known && i < known->len; i++) {
		const struct known *one = &g_array_index(known, struct known, i);

		if (pid != NUMBER_UNKNOWN && one->pid != KERNEL_UNKNOWN && one->pid != pid)
			continue;
		if (found != NUMBER_UNKNOWN && found != one->kernel)
			return NUMBER_AMBIGUOUS;
		found = one->kernel;
	}
	return found == NUMBER_UNKNOWN ? tid : found;
}
