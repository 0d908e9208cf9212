/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/spoollook.h"

#include <pthread.h>
#include <stdbool.h>

#include "output/spool/spoollist.h"

struct spoollook {
	char *directory;
	pthread_mutex_t lock; /* guards what follows */
	bool under_way, over; /* over: its owner is gone, and a look that is under way frees it */
	GPtrArray *found;
};

static void free_look(struct spoollook *look)
{
	if (look->found)
		g_ptr_array_unref(look->found);
	pthread_mutex_destroy(&look->lock);
	g_free(look->directory);
	g_free(look);
}

static void *run(void *data)
{
	struct spoollook *look = data;
	GPtrArray *found = spoollist_read(look->directory), *last;
	bool over;

	pthread_mutex_lock(&look->lock);
	last = look->found;
	look->found = found;
	look->under_way = false;
	over = look->over;
	pthread_mutex_unlock(&look->lock);
	if (last)
		g_ptr_array_unref(last);
	if (over)
		free_look(look);
	return NULL;
}

struct spoollook *spoollook_create(const char *directory)
{
	struct spoollook *look = g_new0(struct spoollook, 1);

	look->directory = g_strdup(directory);
	pthread_mutex_init(&look->lock, NULL);
	return look;
}

void spoollook_begin(struct spoollook *look)
{
	pthread_t thread;
	bool begin;

	pthread_mutex_lock(&look->lock);
	begin = !look->under_way;
	look->under_way = true;
	pthread_mutex_unlock(&look->lock);
	if (!begin)
		return;
	if (pthread_create(&thread, NULL, run, look) == 0) {
		pthread_detach(thread);
		return;
	}
	pthread_mutex_lock(&look->lock);
	look->under_way = false;
	pthread_mutex_unlock(&look->lock);
}

GPtrArray *spoollook_read(struct spoollook *look)
{
	GPtrArray *found;

	pthread_mutex_lock(&look->lock);
	found = look->found ? g_ptr_array_ref(look->found) : NULL;
	pthread_mutex_unlock(&look->lock);
	return found;
}

void spoollook_destroy(struct spoollook *look)
{
	bool under_way;

	pthread_mutex_lock(&look->lock);
	under_way = look->under_way;
	look->over = true;
	pthread_mutex_unlock(&look->lock);
	if (!under_way)
		free_look(look);
}
