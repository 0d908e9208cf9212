/* SPDX-License-Identifier: BSD-2-Clause */
/* The folders of one session of lttng-relayd's, as the files relay*.c share them. */
#ifndef SESSION_RELAYFOLDER_H
#define SESSION_RELAYFOLDER_H

#include <fcntl.h>

#include <glib.h>

#include "session/relayfiles.h"

#define FOLDER_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)

struct relayfiles {
	int output, host, folder; /* folders, each in the one to its left */
	char *name;               /* of the last */
	char *path;
	GStringChunk *names;
	bool odd;          /* an index was read that has entries which cannot be, */
	uint64_t odd_user; /* and whose that was */
};

/* Whether what failed with this errno may do better another time: no more files can be open, say. */
bool relay_passes(int error);

/* Opens a folder below @folder, at @path, without following links; -1, with errno, if it cannot be. */
int relay_open_folder(int folder, const char *path);

/* Lists a folder, and closes it; NULL, with errno, if it cannot be. Passes a @folder of -1 on. */
GPtrArray *relay_list_folder(int folder);

#endif
