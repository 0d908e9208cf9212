/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tracing session: created, found again, started and ended through liblttng-ctl.
 *
 * A live session records our events of all programs on the node, in buffers of each user; up to two more
 * channels have what is recorded beside these. While one session takes another's place there are both.
 * It outlives the agent, which takes it up again when it starts. Calls block on the session daemon, so they
 * belong in a thread that may wait.
 */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "config/config.h"
#include "core/reason.h"
#include "session/again.h"
#include "session/sessionid.h"
#include "session/sessionstatus.h"

struct session;

/* Whether the session has, of what is fixed once it is created, what one that was created now would have. */
bool session_has_settings(const struct config *config, const struct session_identity *session);

/* Whether it has what the kernel records. */
bool session_has_kernel(const struct session_identity *session);

/* Whether it was made without the kernel, and still would be, as the kernel's consumer daemon does not
 * answer. */
bool session_waits_for_kernel(const struct config *config, const struct session_identity *session);

/* Looks for the session @name; @created is then when it was created. */
enum session_status session_find(
	const struct config *config, const char *name, uint64_t *created, char *error, size_t error_size);

/*
 * Checks that the session @name that is there can be one of an agent's: live, to our relay,
 * and with our channel, or with none yet. SESSION_FOREIGN: it is not, and must be left alone.
 */
enum session_status session_check(
	const struct config *config, const char *name, char *error, size_t error_size);

/*
 * Creates the session, which is to record spans of @level and those that matter more, ready to be attached to
 * but not started, and tells what it is known by. On failure nothing is left, and @error says what to do.
 */
enum session_status session_create(const struct config *config, uint64_t level,
	struct session_identity *identity, char *error, size_t error_size);

/* A session that takes another one's place, without a moment in which neither records. It is created as
 * @name. */
enum session_status session_create_beside(const struct config *config, const char *name, uint64_t level,
	struct session_identity *identity, char *error, size_t error_size);
/* Starts it with its channels disabled: programs map its buffers, which takes a while, and record nothing.
 * One that is started already stays as it is. */
enum session_status session_start_mute(
	const struct config *config, const char *name, char *error, size_t error_size);
/* Enables them: when this returns all programs record in it. */
enum session_status session_unmute(
	const struct config *config, const char *name, char *error, size_t error_size);

/*
 * Ends a session that is stopped and read to its end, of which a program may hold a buffer for ever, so that
 * LTTng would wait for it: what cannot be read is cleared first. To be called until it returns true: it is
 * gone. @cleared: not with the first call.
 */
bool session_take_down(const struct config *config, const struct session_identity *session, bool cleared);

/* Takes up a session that was created or found. */
struct session *session_adopt(const struct config *config, const struct session_identity *identity);

/* Starts recording, unless it records already. To be called once a reader is attached: so it sees the first
 * event. */
enum session_status session_start(struct session *session, char *error, size_t error_size);

/* What session_repair has set right. */
struct session_repairs {
	const char *what;           /* that somebody had changed; NULL: nothing */
	bool level;                 /* it had another one */
	bool older;                 /* it had the events of an older version */
	struct omissions omissions; /* before, those that are known; of what is @anew they are found out */
	char error[512];            /* why LTTng refused it; "" if it did not */
};

/*
 * Makes sure that @session is there and records: that it is started, has its channel and its events enabled,
 * and records spans of @level and those that matter more. A change of level loses none of the spans that both
 * levels record. SESSION_NONE: it is gone. What else the configuration wants of it is set right, too; @anew
 * as beside_enable has it.
 */
enum session_status session_repair(const struct config *config, const struct session_identity *session,
	uint64_t level, struct anew anew, struct session_repairs *repairs);

/* The URL for lttng-live; borrowed. */
const char *session_url(const struct session *session);

/* Stops recording, and waits until the relay has what was recorded, up to @timeout_ns; then nothing more
 * comes. Returns whether it has. If programs record in another session, too, those are counted that LTTng
 * gives up meanwhile. */
bool session_stop(struct session *session, bool other_records, int64_t timeout_ns);

/* Destroys the session, without waiting for the daemon to be done with it. */
void session_destroy(struct session *session);

/* Frees @session; the session itself stays. */
void session_free(struct session *session);

#endif
