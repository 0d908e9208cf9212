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

#include "core/fault.h"

struct tls_options {
	const char *ca;          /* PEM file of the authorities to trust; "" for the system's */
	const char *certificate; /* PEM file of the client certificate and its chain; "" for none */
	const char *key;         /* PEM file of its key; "" for none */
};

/* Reads the files; returns NULL with one sentence in @why, of @size bytes, if they are not usable. */
SSL_CTX *tls_create(const struct tls_options *options, char *why, size_t size);

/*
 * A session with @host, before its handshake, owned by the caller. NULL if memory is short. *@asked becomes
 * true when the server asks for a client certificate.
 */
SSL *tls_open(SSL_CTX *tls, const char *host, bool *asked);

/*
 * Writes why @session with @host failed, from OpenSSL's @error (0 if there is none), as part of a sentence to
 * @why, of @size bytes. Returns its length; 0 if TLS knows no reason.
 */
enum fault tls_explain(SSL *session, const char *host, unsigned long error, char *why, size_t size);

#endif
