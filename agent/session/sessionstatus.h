/* SPDX-License-Identifier: BSD-2-Clause */
/* What came of a call that concerns the session. */
#ifndef SESSION_SESSIONSTATUS_H
#define SESSION_SESSIONSTATUS_H

enum session_status {
	SESSION_OK,
	SESSION_NONE,      /* there is no such session */
	SESSION_NO_DAEMON, /* lttng-sessiond does not answer */
	SESSION_DENIED,    /* it does, but takes no commands of this user */
	SESSION_NO_RELAY,  /* lttng-relayd does not */
	SESSION_FOREIGN,   /* it is somebody else's */
	SESSION_FAILED
};

#endif
