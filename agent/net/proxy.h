/* SPDX-License-Identifier: BSD-2-Clause */
/* An HTTP proxy on the way to a server: where it is, and as whom we come. */
#ifndef NET_PROXY_H
#define NET_PROXY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/address.h"
#include "base/buffer.h"

struct proxy;

/* @url as in proxyurl.h, or "": NULL, no proxy. @password_file: "" for none. Both are copied. */
struct proxy *proxy_create(const char *url, const char *password_file);
void proxy_free(struct proxy *proxy);

/* Borrowed. */
const struct address *proxy_address(const struct proxy *proxy);

/*
 * Appends the header that says who we are, to @out; nothing without a user. The password's file is read each
 * time, as it may have changed: false if it does not do, with one sentence in @why, of @size bytes.
 */
bool proxy_put_login(const struct proxy *proxy, struct buffer *out, char *why, size_t size);

#endif
