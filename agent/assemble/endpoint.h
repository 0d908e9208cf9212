/* SPDX-License-Identifier: BSD-2-Clause */
/* Addresses as programs write them. */
#ifndef ASSEMBLE_ENDPOINT_H
#define ASSEMBLE_ENDPOINT_H

#include "core/span.h"

/* Sets the address from text, IPv4 or IPv6; anything else ("localhost", "NaN", "") means no address. */
void endpoint_set_address(struct endpoint *endpoint, struct text ip);

#endif
