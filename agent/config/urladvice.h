/* SPDX-License-Identifier: BSD-2-Clause */
/* What to write instead of a URL: it has the host and port that are wanted, and says more. */
#ifndef CONFIG_URLADVICE_H
#define CONFIG_URLADVICE_H

#include <stddef.h>

#include "config/keys.h"

/* Says it of @value, which has "://". @type: see explain.h. */
void url_advise(const struct config_key *key, const char *value, int type, char *error, size_t size);

/* The port that such a server usually has. */
const char *url_usual_port(const struct config_key *key, int type);

#endif
