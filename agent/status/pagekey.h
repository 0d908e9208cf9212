/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The token that lets people see the page: random, and in a file of the state directory that its owner and
 * its group can read. Who removes the file and restarts the agent makes another one.
 */
#ifndef STATUS_PAGEKEY_H
#define STATUS_PAGEKEY_H

#include <stdbool.h>

#define PAGEKEY_FILE "page-token"
/* 32 characters of 6 bits each */
#define PAGEKEY_SIZE 32
#define PAGEKEY_COOKIE "blkin-page-"

struct pagekey {
	char token[PAGEKEY_SIZE + 1];
	/*
	 * Cookies know no ports, and tunnels to several nodes are all on localhost: so each agent's has a
	 * name of its own, made of a hash of the token.
	 */
	char cookie[sizeof(PAGEKEY_COOKIE) + 8];
};

/*
 * Reads it, or makes it. If it cannot be kept, that is logged, and it is good for as long as the agent runs.
 */
void pagekey_open(struct pagekey *key, const char *state_directory);

/* Whether it is the token: in a time that does not tell how much of it is right. NULL is not. */
bool pagekey_fits(const struct pagekey *key, const char *text);

#endif
