/* SPDX-License-Identifier: BSD-2-Clause */
/* Items get an output's `tags`. */
#ifndef QUEUE_LABEL_H
#define QUEUE_LABEL_H

#include "config/tags.h"
#include "queue/batch.h"

/* The same items with the tags, one for one, the caller's; one that is no span becomes empty. */
struct batch *label(const struct batch *items, const struct tags *tags);

#endif
