/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = none`: the output is switched off, and may keep its keys. */
#include "config/outputtype.h"

#include "config/keys.h"

const struct output_type output_type_none = {.name = "none", .keys = KEYS_ANY};
