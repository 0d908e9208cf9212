/* SPDX-License-Identifier: BSD-2-Clause */
/* What [output] of the configuration says, for the uplink. */
#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

#include "config/config.h"
#include "uplink/uplink.h"

/* Its strings are borrowed from @config. */
struct uplink_options output_options(const struct config *config);

/* Likewise for the queue of batches. */
struct batch_limits output_batch_limits(const struct config *config);

#endif
