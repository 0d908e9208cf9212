/* SPDX-License-Identifier: BSD-2-Clause */
/* Names of events as LTTng takes them, with `*` for anything; several with commas between them. */
#ifndef CONFIG_GLOBS_H
#define CONFIG_GLOBS_H

#include <stdbool.h>
#include <stddef.h>

#define GLOBS_MAX 64
#define GLOB_SIZE 256 /* LTTng's, with the 0 at the end */

/* The names without what is around them; g_strfreev is due. */
char **globs_split(const char *text);

/* Whether it is among the first @count. */
bool globs_have(char *const *list, size_t count, const char *name);

/* Returns 0, or -1 with @error saying what is wrong. */
int globs_check(const char *text, char *error, size_t size);

/* The same for names of the kernel's functions, which have no `*`. */
int globs_check_symbols(const char *text, char *error, size_t size);

/* The first one that may stand for a name that begins with @prefix; the caller's, or NULL. */
char *globs_reaching(const char *text, const char *prefix);

#endif
