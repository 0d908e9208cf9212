/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/group.h"

#include <errno.h>
#include <grp.h>

#include <glib.h>

/* Of a group with a hundred thousand members, say. */
#define SIZE_MAX_TRIED (4U << 20)

bool group_find(const char *name, gid_t *id)
{
	struct group group, *found = NULL;

	for (size_t size = 1024; size <= SIZE_MAX_TRIED; size *= 4) {
		g_autofree char *text = g_malloc(size);

		if (getgrnam_r(name, &group, text, size, &found) == ERANGE)
			continue;
		if (found && id)
			*id = found->gr_gid;
		return found != NULL;
	}
	return false;
}
