/* SPDX-License-Identifier: BSD-2-Clause */
/* The groups of this machine, for any thread. */
#ifndef BASE_GROUP_H
#define BASE_GROUP_H

#include <stdbool.h>
#include <sys/types.h>

/* Whether there is a group of that @name; its number goes into @id, unless that is NULL. */
bool group_find(const char *name, gid_t *id);

#endif
