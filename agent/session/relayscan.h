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

/* The packets of a session that are not done. */
struct relay_found {
	GArray *packets; /* of struct relayfiles_packet, in order of their begin clocks */
	guint most;      /* if there are more, those that begin first; not 0 */
	bool more;       /* there are */
	uint64_t bytes;  /* of all of them but the blank ones */
	uint64_t newest; /* of all of them: its begin clock */
};

/* Finds those that are not done by @positions, for @found, in which packets and most are set; @error says why
 * these are not all. */
enum relay_scanned relay_scan(struct relayfiles *files, const struct positions *positions,
	struct relay_found *found, char *error, size_t error_size);

/* When the newest packet of a trace begins that holds events, and is not done; 0: there is none. */
uint64_t relay_newest(
	struct relayfiles *files, const struct stream_key *key, const struct positions *positions);

/* Whether one of the indexes that were read since the last call has entries that cannot be, as packets that
 * end before they begin, or begin together, or are of another CPU than their file; and whose it is. */
bool relay_scan_was_odd(struct relayfiles *files, uint64_t *user);

/* Looks up one packet: for intake_options. */
bool relay_locate(void *files, const struct stream_key *key, uint64_t begin, struct packet_info *info);

#endif
