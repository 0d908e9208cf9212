/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Carving: packets out of relayd's files into traces of their own, which babeltrace2 can read.
 *
 * The files of a session that is being written cannot be read as they stand: the last packet may be there in
 * part, and the oldest may be overwritten meanwhile. So whole packets are copied, and each is checked
 * after that.
 */
#ifndef SESSION_RELAYCARVE_H
#define SESSION_RELAYCARVE_H

#include "session/relayfiles.h"

#define RELAY_CARVE_ERROR 512

/*
 * Copies @count packets and their metadata into @scratch, a folder that is made. Returns the folders of the
 * traces (of char *, to be unreffed), none for packets that are gone; or NULL with @error, if @scratch cannot
 * be written.
 */
GPtrArray *relay_carve(struct relayfiles *files, const struct relayfiles_packet *packets, size_t count,
	const char *scratch, char error[static RELAY_CARVE_ERROR]);

/* Whether relay_carve copies the stream to @trace. */
bool relay_carve_is_of(const struct stream_key *key, const char *trace);

/* Removes @scratch, and what relay_carve left in it. */
void relay_carve_remove(const char *scratch);

#endif
