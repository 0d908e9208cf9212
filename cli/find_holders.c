/* SPDX-License-Identifier: BSD-2-Clause */
#include "find_holders.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "base/sanitize.h"
#include "process_name.h"
#include "session/registering.h"

#define LIMIT_NS (1 * NS_PER_SECOND)
#define NAMED_MAX 3
/* LTTng's library has two connections to a daemon, for commands and to notify. */
#define LIBRARY_MAX 2

struct search {
	GHashTable *sockets; /* the programs' ends; those that wait have a value */
	GHashTable *traced;  /* those of them that a program with LTTng's thread has, of which children may
				have copies */
	GArray *found;       /* of struct holder */
	int64_t deadline;
};

struct holder {
	int pid;
	GArray *sockets; /* of uint32_t */
	int count;
};

static void clear_holder(void *holder)
{
	g_array_unref(((struct holder *)holder)->sockets);
}

/* The socket that is behind the process's descriptor; 0: it is none. */
static uint32_t socket_of(const char *folder, const char *descriptor)
{
	g_autofree char *path = g_build_filename(folder, descriptor, NULL);
	unsigned socket = 0;
	char is[64] = "";

	if (readlink(path, is, sizeof(is) - 1) < 0 || sscanf(is, "socket:[%u]", &socket) != 1)
		return 0;
	return socket;
}

/* Which of the connections the process has. */
static GArray *sockets_of(const struct search *search, int pid)
{
	GArray *sockets = g_array_new(FALSE, FALSE, sizeof(uint32_t));
	g_autofree char *folder = g_strdup_printf("/proc/%d/fd", pid);
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	const char *name;

	while (dir && clock_monotonic() < search->deadline && (name = g_dir_read_name(dir))) {
		uint32_t socket = socket_of(folder, name);

		if (socket && g_hash_table_contains(search->sockets, GUINT_TO_POINTER(socket)))
			g_array_append_val(sockets, socket);
	}
	return sockets;
}

static void look_at(struct search *search, int pid)
{
	struct holder holder = {.pid = pid, .sockets = sockets_of(search, pid)};
	bool traced = holder.sockets->len && process_is_traced(pid);

	for (guint i = 0; traced && i < holder.sockets->len; i++) {
		gpointer socket = GUINT_TO_POINTER(g_array_index(holder.sockets, uint32_t, i));

		holder.count += g_hash_table_lookup(search->sockets, socket) != NULL;
		g_hash_table_add(search->traced, socket);
	}
	if (traced && holder.count <= LIBRARY_MAX)
		g_array_set_size(holder.sockets, 0);
	if (holder.sockets->len)
		g_array_append_val(search->found, holder);
	else
		clear_holder(&holder);
}

/* Leaves out what a child has of the program that it was made by. */
static void count_own(const struct search *search)
{
	for (guint i = search->found->len; i > 0; i--) {
		struct holder *holder = &g_array_index(search->found, struct holder, i - 1);

		for (guint n = 0; !process_is_traced(holder->pid) && n < holder->sockets->len; n++)
			holder->count += !g_hash_table_contains(search->traced,
				GUINT_TO_POINTER(g_array_index(holder->sockets, uint32_t, n)));
		if (!holder->count)
			g_array_remove_index(search->found, i - 1);
	}
}

static int compare(const void *one, const void *other)
{
	const struct holder *a = one, *b = other;

	return a->count != b->count ? b->count - a->count : a->pid - b->pid;
}

/* "hog (123) of user 1000 (64 connections), hog (124) of user 1000 (2 connections)"; the worst few. */
static void name_holders(struct census *census, const GArray *found)
{
	g_autoptr(GString) names = g_string_new(NULL);

	for (guint i = 0; i < MIN(found->len, NAMED_MAX); i++) {
		const struct holder *holder = &g_array_index(found, struct holder, i);
		uid_t user = process_user(holder->pid);
		char name[64];

		process_name(name, sizeof(name), holder->pid);
		g_string_append_printf(names, "%s%s", i ? ", " : "", name);
		if (user != (uid_t)-1)
			g_string_append_printf(names, " of user %u", user);
		g_string_append_printf(
			names, " (%d connection%s)", holder->count, holder->count == 1 ? "" : "s");
	}
	census->holders = (int)found->len;
	words_copy(
		census->holder_names, sizeof(census->holder_names), (const uint8_t *)names->str, names->len);
}

static void search_processes(struct search *search)
{
	g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
	const char *name;

	while (proc && clock_monotonic() < search->deadline && (name = g_dir_read_name(proc)))
		if (atoi(name) > 0)
			look_at(search, atoi(name));
	count_own(search);
	g_array_sort(search->found, compare);
}

static void put_sockets(struct search *search, const struct registering *registering, const GArray *all)
{
	search->sockets = g_hash_table_new(NULL, NULL);
	for (guint i = 0; i < all->len; i++)
		g_hash_table_insert(search->sockets, GUINT_TO_POINTER(g_array_index(all, uint32_t, i)), NULL);
	for (int i = 0; i < MIN(registering->waiting, REGISTERING_MAX); i++)
		g_hash_table_insert(search->sockets, GUINT_TO_POINTER(registering->sockets[i]), search);
}

void find_holders(struct census *census, const char *tracing_group)
{
	int64_t now = clock_monotonic();
	struct search search = {.deadline = now + LIMIT_NS};
	struct registering registering = {0};
	g_autoptr(GArray) all = NULL;

	registering_find(&registering, tracing_group, now);
	registering_look(&registering, now);
	if (registering.waiting <= 0)
		return;
	all = registering_connections(tracing_group);
	put_sockets(&search, &registering, all);
	search.traced = g_hash_table_new(NULL, NULL);
	search.found = g_array_new(FALSE, FALSE, sizeof(struct holder));
	g_array_set_clear_func(search.found, clear_holder);
	search_processes(&search);
	name_holders(census, search.found);
	g_array_unref(search.found);
	g_hash_table_unref(search.traced);
	g_hash_table_unref(search.sockets);
}
