/* SPDX-License-Identifier: BSD-2-Clause */
#include "write_out.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

bool write_out(const uint8_t *bytes, size_t size, bool *failed)
{
	struct pollfd ready = {.fd = STDOUT_FILENO, .events = POLLOUT};
	size_t at = 0;

	while (at < size) {
		ssize_t written = write(STDOUT_FILENO, bytes + at, size - at);

		if (written >= 0)
			at += (size_t)written;
		else if (errno == EAGAIN)
			poll(&ready, 1, -1);
		else if (errno != EINTR)
			break;
	}
	/* EPIPE: the reader, `head` perhaps, has seen enough */
	*failed = at < size && errno != EPIPE;
	if (*failed)
		log_error("cannot write to standard output: %s", strerror(errno));
	return at == size;
}
