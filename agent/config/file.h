/* SPDX-License-Identifier: BSD-2-Clause */
/* One file of the configuration, read strictly: every mistake is logged with its line. */
#ifndef CONFIG_FILE_H
#define CONFIG_FILE_H

#include "config/config.h"

/* A larger file is refused. */
#define CONFIG_FILE_MAX (1024 * 1024)

/*
 * Reads the file that @config names last in `files` into @config, on top of what is there. Returns 0, or -1
 * having logged what is wrong, at most a few dozen lines of it.
 */
int config_file_read(struct config *config);

#endif
