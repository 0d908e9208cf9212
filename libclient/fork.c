/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fork without exec: LTTng's locks and threads must be prepared, which liblttng-ust-fork.so does if it is
 * preloaded. So that daemons that fork need no preload, the provider calls the same hooks itself.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>

#include <lttng/ust-fork.h>

#include "clock.h"
#include "process.h"
#include "registering.h"

/*
 * The signals that the forking thread had blocked. Used between the hooks, while it holds LTTng's lock, so by
 * one thread at a time. Not a __thread variable: its first use would allocate memory, while a preloaded
 * allocator may hold its locks.
 */
static sigset_t signals;

static void before(void)
{
	sigset_t mine;

	lttng_ust_before_fork(&mine);
	signals = mine;
}

static void after_in_parent(void)
{
	sigset_t mine = signals;

	lttng_ust_after_fork_parent(&mine);
}

static void after_preloaded(void)
{
	clock_in_child();
	registering_in_child();
	process_in_child();
}

static void after_in_child(void)
{
	sigset_t mine = signals;

	after_preloaded();
	lttng_ust_after_fork_child(&mine);
}

/* With the preload, the hooks would be called twice, and deadlock. Another fork may stand before its own. */
static int is_preloaded(void)
{
	return dlopen("liblttng-ust-fork.so.1", RTLD_LAZY | RTLD_NOLOAD) != NULL;
}

__attribute__((constructor)) static void follow_forks(void)
{
	registering_prepare();
	process_prepare();
	if (is_preloaded())
		pthread_atfork(NULL, NULL, after_preloaded);
	else
		pthread_atfork(before, after_in_parent, after_in_child);
}
