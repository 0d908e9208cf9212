/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of TLS, and what they are at the moment, to see whether they are others by now: certificates are
 * renewed under the names that they have.
 */
#ifndef NET_TLSFILES_H
#define NET_TLSFILES_H

#include <stdbool.h>
#include <stdint.h>

struct tls_options {
	const char *ca;          /* PEM file of the authorities to trust; "" for the system's */
	const char *certificate; /* PEM file of our own certificate and its chain; "" for none */
	const char *key;         /* PEM file of its key; "" for none */
};

struct tlsfiles {
	struct {
		uint64_t device, inode;
		int64_t size, modified_ns, changed_ns; /* all 0: it is not there */
	} files[4];
};

/* Those that @options name, or that the system has where they name none. */
void tlsfiles_look(const struct tls_options *options, struct tlsfiles *found);

bool tlsfiles_same(const struct tlsfiles *one, const struct tlsfiles *other);

#endif
