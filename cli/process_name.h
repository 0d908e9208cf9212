/* SPDX-License-Identifier: BSD-2-Clause */
/* What a process is called, and whose it is. */
#ifndef PROCESS_NAME_H
#define PROCESS_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* "NAME (PID)" of a process, printable. */
void process_name(char *text, size_t size, int pid);

/* (uid_t)-1 if it has ended. */
uid_t process_user(int pid);

/* Whether LTTng's library runs in it, which everybody may see, other than what it has mapped. */
bool process_is_traced(int pid);

#endif
