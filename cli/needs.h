/* SPDX-License-Identifier: BSD-2-Clause */
/* What the agent needs of the node beside its configuration. */
#ifndef NEEDS_H
#define NEEDS_H

#include <stdbool.h>

#include "config/config.h"

enum needs {
	NEEDS_MET,
	NEEDS_UNMET,    /* the agent does without something */
	NEEDS_HOPELESS, /* it does not start */
	NEEDS_UNTRIED
};

/*
 * Tries whether the agent can read its TLS files, write its folders and open its port: root does so as the
 * agent's user, and sees what its unit forbids. Each that it cannot is an error in one sentence. For somebody
 * who is neither root nor the agent's user nothing can be tried.
 */
enum needs needs_try(const struct config *config);

#endif
