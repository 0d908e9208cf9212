/* SPDX-License-Identifier: BSD-2-Clause */
/* Accepting connections: inner.h. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "inlet/inner.h"

/* Before accepting is tried again after it failed, for want of file descriptors, most likely. */
static const struct timeval accept_pause = {.tv_sec = 1};

static void on_accept(
	struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int size, void *data)
{
	struct inlet *inlet = data;
	enum seat seat = SEAT_NONE;
	struct peer peer;

	(void)listener;
	(void)size;
	if (!inlet->quiet) {
		peer_identify(fd, address, &peer);
		seat = limits_admit(inlet, &peer);
	}
	if (seat != SEAT_NONE)
		connection_accept(inlet, fd, address, &peer, seat);
	else
		close(fd);
}

static void on_accept_error(struct evconnlistener *listener, void *data)
{
	struct inlet *inlet = data;
	int error = EVUTIL_SOCKET_ERROR();

	inlet_say(inlet, SAY_CROWDED, "senders cannot be let in: %s%s", strerror(error),
		error == EMFILE
			? "; raise LimitNOFILE= in the unit, or `ulimit -n`, or lower `connections` in "
			  "[input]"
			: "");
	evconnlistener_disable(listener);
	event_add(inlet->resume, &accept_pause);
}

/* From now on this socket, -1 for none, is listened to; senders who are connected stay. */
void listener_take_up(struct inlet *inlet, int fd)
{
	listener_close(inlet);
	if (fd < 0)
		return;
	inlet->listener = evconnlistener_new(
		inlet->base, on_accept, inlet, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	evconnlistener_set_error_cb(inlet->listener, on_accept_error);
}

void listener_close(struct inlet *inlet)
{
	if (inlet->listener)
		evconnlistener_free(inlet->listener);
	inlet->listener = NULL;
	event_del(inlet->resume);
}
