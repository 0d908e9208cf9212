/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/waker.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <event2/event.h>
#include <glib.h>

#include "base/log.h"

struct waker {
	int fd; /* an eventfd; -1 if there are too many files: libevent wakes the loop then */
	struct event *event;
	atomic_bool asked; /* and not woken yet */
	void (*woken)(void *data);
	void *data;
};

static void on_event(evutil_socket_t fd, short what, void *data)
{
	struct waker *waker = data;
	uint64_t count;

	(void)what;
	if (fd >= 0 && read(fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		log_error("eventfd: %s", g_strerror(errno));
	atomic_exchange(
		&waker->asked, false); /* no store: what was written before waker_wake is to be seen */
	waker->woken(waker->data);
}

struct waker *waker_create(struct event_base *base, void (*woken)(void *data), void *data)
{
	struct waker *waker = g_new0(struct waker, 1);

	waker->woken = woken;
	waker->data = data;
	waker->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	waker->event = event_new(base, waker->fd, EV_READ | EV_PERSIST, on_event, waker);
	if (!waker->event)
		g_error("out of memory");
	if (waker->fd >= 0)
		event_add(waker->event, NULL);
	return waker;
}

void waker_destroy(struct waker *waker)
{
	if (!waker)
		return;
	event_free(waker->event);
	if (waker->fd >= 0)
		close(waker->fd);
	g_free(waker);
}

void waker_wake(struct waker *waker)
{
	static const uint64_t one = 1;

	if (atomic_exchange(&waker->asked, true))
		return;
	if (waker->fd < 0 || write(waker->fd, &one, sizeof(one)) < 0)
		event_active(waker->event, EV_READ, 0);
}
