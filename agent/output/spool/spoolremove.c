/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/spool/spoolremove.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

#include <glib.h>

#include "base/regularfile.h"
#include "output/spool/spoolname.h"

static bool fail(const char *path, char *why, size_t size)
{
	snprintf(why, size, "%s: %s", path, g_strerror(errno));
	return false;
}

static bool remove_file(const char *path, const char *suffix, char *why, size_t size)
{
	g_autofree char *name = g_strconcat(path, suffix, NULL);

	return unlink(name) == 0 || errno == ENOENT ? true : fail(name, why, size);
}

/* The spool itself last but for the counts: what a crash leaves is found again. */
static bool remove_all(const char *spool, const char *counts, char *why, size_t size)
{
	static const char *const suffixes[] = {SPOOLNAME_NEW SPOOLNAME_JOURNAL, SPOOLNAME_NEW SPOOLNAME_LOG,
		SPOOLNAME_NEW SPOOLNAME_INDEX, SPOOLNAME_NEW, "", SPOOLNAME_LOG, SPOOLNAME_INDEX,
		SPOOLNAME_JOURNAL};

	for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++)
		if (!remove_file(spool, suffixes[i], why, size))
			return false;
	return remove_file(counts, "", why, size);
}

enum spoolremove spoolremove(const char *directory, const char *output, char *why, size_t size)
{
	g_autofree char *spool = spoolname_spool(directory, output),
			*counts = spoolname_counts(directory, output);
	enum spoolremove done = SPOOL_STAYS;
	int lock = regularfile_open(counts, O_RDWR, 0);

	/* whoever has the spool open has locked its counts; where there is none, nobody has */
	if (lock < 0 && errno != ENOENT)
		snprintf(why, size, "%s: %s", counts, regularfile_error(errno));
	else if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) != 0)
		done = SPOOL_IN_USE;
	else if (remove_all(spool, counts, why, size))
		done = SPOOL_REMOVED;
	if (lock >= 0)
		close(lock);
	return done;
}
