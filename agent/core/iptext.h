/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses as text, for the encoders. */
#ifndef CORE_IPTEXT_H
#define CORE_IPTEXT_H

#include <stdbool.h>

#include "core/span.h"

/* The most characters that iptext_put writes. */
#define IPTEXT_MAX 46

/* Writes the endpoint's address, which it must have, without a NUL; returns where it ends. */
char *iptext_put(char *to, const struct endpoint *endpoint);

/* Sets the endpoint's address to that of @text; false if it is none. 10.0.0.04 is 10.0.0.4, as for Zipkin. */
bool iptext_read(struct endpoint *endpoint, struct text text);

#endif
