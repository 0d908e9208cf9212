/* SPDX-License-Identifier: BSD-2-Clause */
/* The agent's unit: as which user it runs, and what of the file system it sees and may write. */
#ifndef UNIT_H
#define UNIT_H

#include <stdbool.h>

#include <glib.h>

struct unit {
	char *user;        /* "" for root's own; NULL: there is neither a unit nor a user blkin */
	bool strict;       /* it may write only to: */
	GPtrArray *writes; /* of char *, folders, */
	GPtrArray *makes;  /* and those of them that it makes */
	bool no_home, own_tmp;
};

/* Asks systemd; without one, the user is blkin, if there is one. */
void unit_read(struct unit *unit);
void unit_free(struct unit *unit);

/* What keeps the unit from reading, or else from writing, a path: a clause with what to do about it; NULL:
 * nothing. */
const char *unit_hides(const struct unit *unit, const char *path);
const char *unit_protects(const struct unit *unit, const char *path);

/* Whether the folder is one that systemd makes when it starts the unit. */
bool unit_makes(const struct unit *unit, const char *folder);

#endif
