/* SPDX-License-Identifier: BSD-2-Clause */
/* An HTTP proxy, as `proxy` has it: HOST:PORT, or as https_proxy has it,
 * http://[USER[:PASSWORD]@]HOST:PORT[/]. */
#ifndef BASE_PROXYURL_H
#define BASE_PROXYURL_H

#include <stdbool.h>

#include "base/address.h"

struct proxyurl {
	struct address address;
	char user[256]; /* "": none */
	char password[256];
};

/* Returns NULL, or a clause that says what is wrong with it, and has nothing of @text. */
const char *proxyurl_parse(const char *text, struct proxyurl *url);

/* " through the proxy HOST:PORT"; "" if there is none: @text is NULL or "". */
#define PROXYURL_WAY (ADDRESS_TEXT + 32)
const char *proxyurl_way(const char *text, char way[PROXYURL_WAY]);

/* The text with *** for the password, whether it is valid or not; the caller's to g_free. */
char *proxyurl_conceal(const char *text);

#endif
