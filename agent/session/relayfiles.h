/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files of one session that lttng-relayd wrote:
 *
 *     OUTPUT/HOSTNAME/SESSION-YYYYMMDD-HHMMSS/ust/uid/USER/BITS-bit/metadata
 *                                                                  /CHANNEL_CPU_FILE
 *                                                                  /index/CHANNEL_CPU_FILE.idx
 *                                            /kernel/metadata, and so on
 *
 * relayd may be writing them, and each stream's files are a ring, so what is read from an index may be gone
 * when it is looked for. No symbolic link is followed.
 */
#ifndef SESSION_RELAYFILES_H
#define SESSION_RELAYFILES_H

#include <stdbool.h>
#include <stddef.h>

#include <glib.h>

#include "session/position.h"
#include "session/relayindex.h"
#include "session/sessionid.h"

struct relayfiles;

enum relayfiles_status {
	RELAYFILES_OK,
	RELAYFILES_NONE,       /* the session has no folder: nothing of it was ever written */
	RELAYFILES_UNREADABLE, /* @error says why */
	RELAYFILES_BUSY /* the same, but another attempt may do better: no more files can be open, say */
};

/* Opens the folder of @session, which its name and its time of creation tell, in relayd's @output. */
enum relayfiles_status relayfiles_open(const char *output, const struct session_identity *session,
	struct relayfiles **files, char *error, size_t error_size);
void relayfiles_close(struct relayfiles *files);

/* The folder; borrowed. */
const char *relayfiles_path(const struct relayfiles *files);

/* A packet on disk. */
struct relayfiles_packet {
	struct stream_key key;
	struct relay_packet is;
	const char *file; /* of the trace; lives as long as the files are open */
	bool blank; /* it holds nothing, as do all of its trace, whose metadata do not say how to read it */
};

/*
 * Calls @visit for each user and word size there is, and for the kernel, with the key of a stream of theirs.
 * Returns 0, or an errno if there are folders that could not be looked at.
 */
int relayfiles_each_trace(
	struct relayfiles *files, void (*visit)(void *data, const struct stream_key *key), void *data);

/* Opens a trace's folder, or with @file a file in it; -1 if it cannot be. */
int relayfiles_open_trace(struct relayfiles *files, const struct stream_key *key, const char *file);

/* Whether a trace of the session is of CTF 2, as LTTng 2.15 writes it unless told otherwise. */
bool relayfiles_are_ctf2(struct relayfiles *files);

#endif
