/* SPDX-License-Identifier: BSD-2-Clause */
/* Spans as SDKs of OpenTelemetry send them, made at random: with attributes of all types, and `more`. */
#ifndef RANDOMWHOLE_H
#define RANDOMWHOLE_H

#include "core/span.h"

struct random_wholes;

struct random_wholes *random_wholes_create(uint32_t seed);
void random_wholes_free(struct random_wholes *wholes);

/* Valid until they are freed. Of few processes and scopes, so that they come again. */
const struct span *random_whole(struct random_wholes *wholes);

#endif
