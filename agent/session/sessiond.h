/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The LTTng session daemon, looked at from outside: where it is for this process, whether it answers, and how
 * many programs are registered with it. Nothing here talks to the programs, and nothing blocks.
 */
#ifndef SESSION_SESSIOND_H
#define SESSION_SESSIOND_H

enum sessiond_answer {
	SESSIOND_ANSWERS,
	SESSIOND_MISSING, /* none runs */
	SESSIOND_DENIED,  /* it runs, but this user may not talk to it */
	SESSIOND_BUSY     /* it takes no more connections: it hangs */
};

/* @tracing_group as in the configuration: whose members share the system's daemon; "" for the user's own. */
enum sessiond_answer sessiond_ask(const char *tracing_group);

/* The folder of the session daemon that this process would talk to; the caller's to g_free. NULL if none
 * runs. */
char *sessiond_folder(const char *tracing_group);

/*
 * The group for whose members the system's daemon is, by its socket; the caller's to g_free. NULL if that
 * cannot be told, or if it is for root alone.
 */
char *sessiond_group(void);

/* Processes that are registered with it, -1 if that cannot be told. */
int sessiond_programs(const char *tracing_group);

/*
 * The version of the interface between programs and the daemon, which the daemon's socket for programs has in
 * its name: a program of another one never finds it. -1 if it cannot be told.
 */
int sessiond_interface(const char *tracing_group);

#endif
