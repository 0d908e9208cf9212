/* SPDX-License-Identifier: BSD-2-Clause */
/* An agent of a user's own: where it keeps what, after the XDG base directories, and what it does otherwise.
 */
#ifndef CONFIG_USER_H
#define CONFIG_USER_H

#include "config/config.h"

/* The user's configuration file; the caller's to g_free. */
char *user_config_file(void);

/*
 * Sets the defaults that differ: files below XDG's folders, the user's own session daemon, a relay daemon of
 * the agent's own, which ends with it so that no session is kept, and no port for HTTP, as each user would
 * need another.
 */
void user_set_defaults(struct config *config);

/* The page of `blkin sampling --user`, and the file that keeps its rates; the caller's to g_free. */
char *user_sampling_page(void);
char *user_sampling_file(void);

/* Makes the folders that @config names, for the user alone. Returns -1 having logged which cannot be. */
int user_make_folders(const struct config *config);

#endif
