/* SPDX-License-Identifier: BSD-2-Clause */
/* Ports of this node at which something listens that takes nothing from an output: one that names such a port
 * is mistaken. */
#ifndef CONFIG_OWNPORT_H
#define CONFIG_OWNPORT_H

#include "base/address.h"
#include "config/config.h"

/* Which of the output's servers is one of them, and what it is in words; NULL: none is. */
const char *ownport_find(
	const struct config *config, const struct output_config *output, struct address *server);

#endif
