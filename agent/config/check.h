/* SPDX-License-Identifier: BSD-2-Clause */
/* The rules that no single key shows. */
#ifndef CONFIG_CHECK_H
#define CONFIG_CHECK_H

#include "config/config.h"

/* Returns 0, or -1 having logged every rule that is broken, with the line that broke it. */
int config_check(const struct config *config);

#endif
