/* SPDX-License-Identifier: BSD-2-Clause */
/* What an output of the configuration says, for its uplink and its queue. */
#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

#include "config/config.h"
#include "uplink/uplink.h"

/* Its strings are borrowed from @output. */
struct uplink_options output_options(const struct output_config *output);

struct batch_limits output_batch_limits(const struct output_config *output);

#endif
