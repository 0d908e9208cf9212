/* SPDX-License-Identifier: BSD-2-Clause */
/* What somebody on the control socket tells the agent to do, and who may: discardtalk.h, protocol.h. */
#ifndef STATUS_ORDERS_H
#define STATUS_ORDERS_H

#include <stdbool.h>

#include <event2/http.h>

#include "base/buffer.h"
#include "status/status.h"

/* Does what a request for @path says, or refuses it: @body and @code are the answer. False if it is for
 * something else. */
bool orders_take(struct evhttp_request *request, const char *path, const struct status_source *source,
	struct buffer *body, int *code);

#endif
