/* SPDX-License-Identifier: BSD-2-Clause */
/* Endpoints as programs write them. */
#ifndef READER_ASSEMBLE_ENDPOINT_H
#define READER_ASSEMBLE_ENDPOINT_H

#include "core/span.h"

/* Sets the address from text, IPv4 or IPv6; anything else ("localhost", "NaN", "") means no address. */
void endpoint_set_address(struct endpoint *endpoint, struct text ip);

/* Parses "PORT IP SERVICE" up to @end. */
bool endpoint_read(struct endpoint *endpoint, const char *at, const char *end);

#endif
