/* SPDX-License-Identifier: BSD-2-Clause */
/* A folder with a spool of known content, and one with a copy of it that is harmed. */
#ifndef SPOOL_HARM_H
#define SPOOL_HARM_H

#include <stddef.h>
#include <stdint.h>

extern char *harm_good, *harm_bad;

/* A fixture: makes both folders. */
void harm_setup(void);
void harm_teardown(void);

/* The spool's file in a folder, or what has a suffix beside it; g_free. */
char *harm_path(const char *folder, const char *suffix);

/* Batches of three spans, large enough for pages of their own, in a file without a log: good's content. */
#define BATCHES 12
#define SPANS 3
void harm_fill(void);

/* Copies good's files to bad. */
void harm_copy(void);

/* Flips these bits of a byte. */
void harm_flip(const char *path, size_t at, uint8_t bits);

/* Files of bad's that the spool has set aside. */
unsigned harm_count_aside(void);
void harm_remove_aside(void);

/*
 * Opens bad, drains it, and checks that of @total spans @survivors came and the rest was counted; that it
 * then works on. @what and @where say what was done to it.
 */
void harm_assert_survivors(int64_t total, int64_t survivors, const char *what, int64_t where);

#endif
