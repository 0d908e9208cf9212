/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/controlsocket.h"

#include <errno.h>
#include <string.h>

#include "base/log.h"
#include "net/unixsocket.h"

bool controlsocket_is_free(const struct config *config)
{
	if (!*config->socket || !unixsocket_answers(config->socket))
		return true;
	log_error("another blkin-agent runs already: it has the control socket %s; stop it first, or give "
		  "this one another `socket`, and another `state-directory`, in [agent]",
		config->socket);
	return false;
}

/* Whether only another configuration helps. */
static bool lasts(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES || error == EPERM || error == EROFS ||
	       error == ENAMETOOLONG;
}

int controlsocket_bind(const char *path, bool *hopeless)
{
	int fd = unixsocket_bind(path, 0660);

	if (fd >= 0)
		return fd;
	*hopeless = lasts(errno);
	if (errno == ENAMETOOLONG)
		log_error("the path of the control socket, %s, is too long (`socket` in [agent])", path);
	else if (errno == EADDRINUSE)
		log_error("another blkin-agent has just taken the control socket %s: stop it first", path);
	else
		log_error(
			"cannot make the control socket %s: %s (`socket` in [agent])", path, strerror(errno));
	return -1;
}
