/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a session records beside spans: other events of programs ([events]), and the kernel's ([kernel]). Each
 * has a channel of its own, so that a flood of them never takes the spans' place. Whatever of it LTTng
 * refuses, spans are recorded.
 */
#ifndef SESSION_BESIDE_H
#define SESSION_BESIDE_H

#include <stdbool.h>

#include <glib.h>

#include "config/config.h"
#include "core/reason.h"
#include "session/again.h"

/* What is made when a session is created: later LTTng lets no channel be added. */
struct beside_made {
	bool events, kernel;
};

/* Makes the channels that are asked for in the session @name, with all that they are to have, as far as it
 * can be had; the session must not have recorded yet. */
struct beside_made beside_create(const struct config *config, const char *name);

/* What of the configuration is fixed once a session that has @made is created, as text that goes behind that
 * of spans; "" if nothing is asked for. */
char *beside_settings(const struct config *config, const struct beside_made *made);

/* Whether a session with these settings has the kernel's channel. */
bool beside_has_kernel(const char *settings);

/* What would be made now. While the kernel's consumer daemon does not answer, it is of the kernel's what a
 * session that @has these settings has: another one would not have more. */
struct beside_made beside_possible(const struct config *config, const char *has);

/* Whether that is so, and it has nothing. */
bool beside_waits_for_kernel(const struct config *config, const char *has);

/*
 * Enables what is asked for. What is @anew may be configured otherwise: what is enabled and not asked for is
 * disabled, what LTTng has refused is tried again, and what of @omissions it is, is found out. Of all else it
 * only sets right what somebody has disabled, and then @changed says so; @omissions have what was found out
 * last.
 */
void beside_enable(const struct config *config, const char *name, struct anew anew,
	struct omissions *omissions, const char **changed);

/* The parts of it that are the kernel's, also for a session that has nothing else (flightsession.h): makes
 * the channel with its contexts, 0 or a negative code; enables what [kernel] names; says what a code means
 * for @name, or for the channel if that is NULL; and whether to ask now: not if it is of no use to ask again
 * soon, nor if the kernel's consumer daemon does not answer, for which the session daemon, asked for a
 * channel of the kernel, waits, and all programs that begin with it. */
int beside_make_kernel(const struct config *config, const char *name);
void beside_enable_kernel(const struct config *config, const char *name, bool anew, struct problem *problem,
	const char **changed);
void beside_explain_kernel(struct problem *problem, int code, const char *name);
bool beside_may_ask_kernel(const struct config *config, bool anew, struct problem *problem);

/* What [kernel] names and this kernel does not have: a sentence for each. Nothing if no tracer can be asked.
 * To be unreffed. */
struct beside_unknown {
	GPtrArray *events, *syscalls, *functions;
};
struct beside_unknown beside_find_unknown(const struct config *config);

/* Whether a `filter` is one that LTTng understands: 0, or -1 with @error. No daemon is asked. */
int beside_check_filter(const char *filter, char *error, size_t size);

#endif
