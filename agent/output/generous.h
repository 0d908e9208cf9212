/* SPDX-License-Identifier: BSD-2-Clause */
/* What some output keeps. */
#ifndef OUTPUT_GENEROUS_H
#define OUTPUT_GENEROUS_H

#include "config/config.h"
#include "output/outputs.h"
#include "queue/keep.h"

/* What the most generous output keeps at the moment. That of any other is a part of it, but for single
 * errors, slow spans, and those of rare services. */
struct keep generous_keep(const struct config *config, const struct outputs *outputs);

#endif
