/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses as programs write them. */
#ifndef ENDPOINT_H
#define ENDPOINT_H

#include "span.h"

/* Sets the address from text, IPv4 or IPv6; what is neither ("localhost", "NaN", "") is no address. */
void endpoint_set_address(struct endpoint *endpoint, struct text ip);

#endif
