/* SPDX-License-Identifier: BSD-2-Clause */
/* A configuration is read from its files, and printed. */
#ifndef CONFIG_LOAD_H
#define CONFIG_LOAD_H

#include <stdbool.h>
#include <stdio.h>

#include "config/config.h"

/* Sets every key to its default. */
void config_init(struct config *config);

/*
 * Reads @path and then its drop-ins, PATH.d/NAME.conf by the order of their names, into @config, which holds
 * the defaults; what comes later wins. Returns 0, or -1 having logged every mistake found, each in one line:
 * "agent.conf:12: unknown key `servr` in [output]; did you mean `server`?". A @path that is not there is a
 * mistake, unless @optional.
 */
int config_read(struct config *config, const char *path, bool optional);

/* Prints every section and key as a configuration file, with where those came from that were set. */
void config_print(const struct config *config, FILE *out);

/* The same for the sections that have nothing to do with outputs alone: what the reader has to know. */
void config_print_own(const struct config *config, FILE *out);

/*
 * config_init and config_read in one: of @file, or, if it is NULL, of the default file if that is there.
 * @user chooses a user's own defaults and file. config_free is due in any case.
 */
int config_load(struct config *config, const char *file, bool user);

void config_free(struct config *config);

#endif
