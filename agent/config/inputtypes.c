/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/inputtypes.h"

#define KEY(upper, lower, key, speaks) key,
const char *const input_keys[INPUTS] = {INPUT_TYPES(KEY)};
#undef KEY

#define SPEAKS(upper, lower, key, speaks) speaks,
const char *const input_speaks[INPUTS] = {INPUT_TYPES(SPEAKS)};
#undef SPEAKS
