/* SPDX-License-Identifier: BSD-2-Clause */
#include "write_out.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
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

/* `head` perhaps, which has seen enough. */
static bool reader_has_gone(void)
{
	struct pollfd reader = {.fd = STDOUT_FILENO};

	return poll(&reader, 1, 0) > 0 && (reader.revents & POLLERR);
}

bool write_out_rest(void)
{
	bool failed = fflush(stdout) != 0;

	if ((!failed && !ferror(stdout)) || reader_has_gone())
		return true;
	log_error("cannot write to standard output%s%s", failed ? ": " : "", failed ? strerror(errno) : "");
	return false;
}
