/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page and its JSON, for those who may see the names of programs and spans: whoever is on the control
 * socket, and on the port who has the token, by the address that `blkin page` prints, the cookie that this
 * leaves, or a header `Authorization: Bearer TOKEN`. `page` in [agent] opens it to all, or shuts it.
 */
#ifndef STATUS_PAGESERVE_H
#define STATUS_PAGESERVE_H

#include <stdbool.h>

#include <event2/http.h>

#include "status/pagekey.h"
#include "status/status.h"

/* Whether a request that came to the port may see names. */
bool pageserve_allows(struct evhttp_request *request, const struct pagekey *key, const struct config *config);

/* Answers it if it is for the page: false if it is for something else. @allowed: as above. */
bool pageserve(struct evhttp_request *request, const struct status_source *source, const struct pagekey *key,
	bool allowed);

/* The page's address, with its @token ("" without one); "" if there is no page. For @size bytes. */
void pageserve_address(char *text, size_t size, const struct config *config, const char *token);

#endif
