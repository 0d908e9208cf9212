/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a forked child waits for LTTng's session daemon.
 *
 * LTTng's hook for children registers the child and waits for the daemon's answer, some milliseconds, so that
 * the child's first spans are recorded. A daemon that hangs would cost each child three seconds. Its length
 * is read once, when LTTng is loaded (LTTNG_UST_REGISTER_TIMEOUT), so the provider takes the place of
 * sem_timedwait in liblttng-ust's table of imports: no other way is open to a library that is loaded later.
 * If that table is not as expected, or the variable is set, LTTng waits as it does by itself.
 *
 * What one child finds out is known to all processes that were forked from the same one.
 */
#ifndef REGISTERING_H
#define REGISTERING_H

/* Takes the place of LTTng's wait. Called once, before any fork. */
void registering_prepare(void);

/* Called in each forked process, before LTTng's hook. */
void registering_in_child(void);

#endif
