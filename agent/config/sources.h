/* SPDX-License-Identifier: BSD-2-Clause */
/* The files of the configuration: which there are, and whether they are still those that were read. */
#ifndef CONFIG_SOURCES_H
#define CONFIG_SOURCES_H

#include <glib.h>

#include "config/config.h"

/*
 * Adds the paths of @path's drop-ins, PATH.d/NAME.conf, to @files by the order of their names. Returns 0, or
 * -1 having logged why the folder cannot be read; that there is none is no mistake.
 */
int sources_list_drop_ins(const char *path, GPtrArray *files);

/* A hash of the names and the contents of all files that config_read would read for @path; g_free it. */
char *sources_hash(const char *path);

#endif
