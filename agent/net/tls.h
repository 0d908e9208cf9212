/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TLS to a server: whom to trust, the client's certificate, and texts for errors. TLS 1.2 or later; the
 * server's certificate must be signed by a trusted authority and be valid for the configured name or address.
 * This cannot be switched off.
 */
#ifndef NET_TLS_H
#define NET_TLS_H

#include <stdbool.h>
#include <stddef.h>

#include <openssl/ssl.h>

#include "base/address.h"
#include "core/fault.h"
#include "net/tlsfiles.h"

struct tls;

/*
 * Reads the files, whose names are copied. If they do not do, it returns NULL with one sentence in @why, of
 * @size bytes; but with @later they are read when tls_ready asks for them.
 */
struct tls *tls_create(const struct tls_options *options, bool later, char *why, size_t size);

/*
 * Whether the files have been read, if need be now; otherwise @why says what is wrong with them. They are
 * read again once they are others, for the sessions to come; if those do not do, which the log says, the ones
 * before stay.
 */
bool tls_ready(struct tls *tls, char *why, size_t size);

/* Looks at the files as that does. Why those that are there now do not do, while the ones before are in use;
 * "" if that is not so. */
const char *tls_outdated(struct tls *tls);

void tls_free(struct tls *tls);

/*
 * A session with @server, to be handshaken; the caller's. It must be ready. NULL where memory is short.
 * *@asked becomes true when the server asks for a certificate of ours.
 */
SSL *tls_open(struct tls *tls, const struct address *server, bool *asked);

/* @server sent something by @session: so it takes our certificate. And whether it ever did so since the files
 * were read. */
void tls_note_answer(struct tls *tls, SSL *session, const struct address *server);
bool tls_had_answer(const struct tls *tls, const struct address *server);

/*
 * Says why @session of @tls, with @host, broke, from OpenSSL's @error (0 if it left none): a clause for @why,
 * of
 * @size bytes. FAULT_NONE if TLS has nothing to say.
 */
enum fault tls_explain(
	const struct tls *tls, SSL *session, const char *host, unsigned long error, char *why, size_t size);

#endif
