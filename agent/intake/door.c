/* SPDX-License-Identifier: BSD-2-Clause */
/* Accepting connections: inner.h. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "intake/inner.h"

/* Before accepting is tried again after it failed, for want of file descriptors, most likely. */
static const struct timeval accept_pause = {.tv_sec = 1};

static void on_accept(
	struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int size, void *data)
{
	struct intake *intake = data;

	(void)listener;
	(void)size;
	if (!intake->quiet && crowd_admits(intake))
		connection_accept(intake, fd, address);
	else
		close(fd);
}

static void on_accept_error(struct evconnlistener *listener, void *data)
{
	struct intake *intake = data;
	int error = EVUTIL_SOCKET_ERROR();

	intake_say(intake, SAY_CROWDED, "senders cannot be let in: %s", strerror(error));
	evconnlistener_disable(listener);
	event_add(intake->resume, &accept_pause);
}

/* From now on this socket, -1 for none, is listened to; senders who are connected stay. */
void door_take_up(struct intake *intake, int fd)
{
	door_close(intake);
	if (fd < 0)
		return;
	intake->listener =
		evconnlistener_new(intake->base, on_accept, intake, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	evconnlistener_set_error_cb(intake->listener, on_accept_error);
}

void door_close(struct intake *intake)
{
	if (intake->listener)
		evconnlistener_free(intake->listener);
	intake->listener = NULL;
	event_del(intake->resume);
}
