/* SPDX-License-Identifier: BSD-2-Clause */
/* The packets of a session, as lttng-relayd's indexes tell of them. */
#ifndef SESSION_RELAYSCAN_H
#define SESSION_RELAYSCAN_H

#include "session/relayfiles.h"

/* What was seen. */
enum relay_scanned {
	RELAY_WHOLE,
	RELAY_PART, /* some packets cannot be found, and never will be */
	RELAY_BUSY, /* the same, but another attempt may do better: no more files can be open, say */
};

/*
 * Appends the packets that are not done by @positions to @packets (of struct relayfiles_packet), in order of
 * their begin clocks; @error says why these are not all.
 */
enum relay_scanned relay_scan(struct relayfiles *files, const struct positions *positions, GArray *packets,
	char *error, size_t error_size);

/* Appends those of one trace, in no order. */
void relay_scan_trace(struct relayfiles *files, const struct stream_key *key,
	const struct positions *positions, GArray *packets);

/* Whether one of the indexes that were read since the last call has entries that cannot be, as packets that
 * end before they begin, or begin together; and whose it is. */
bool relay_scan_was_odd(struct relayfiles *files, uint64_t *user);

/* Looks up one packet: for intake_options. */
bool relay_locate(void *files, const struct stream_key *key, uint64_t begin, struct packet_info *info);

#endif
