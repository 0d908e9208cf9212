/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of output/file/ have in common: a directory, and a writer into it. */
#ifndef FILES_RIG_H
#define FILES_RIG_H

#include <stdbool.h>
#include <stdint.h>

#include <check.h>

#include "output/file/filewriter.h"

extern char *directory;
extern struct filewriter writer;

/* Before and after each test. */
void files_make(void);
void files_remove(void);

/* Those of an agent, without any limit. */
struct filewriter_options files_options(void);

void start_writer(const struct filewriter_options *with);
void stop_writer(void);

/* The path of a record for those options, in the directory. */
const char *record_path(void);

/* Writes the lines, which are without spaces, and returns how many were there already. With a record, a
 * line's first letter is its identity. */
uint32_t write_lines(const char *lines);

/* What each file has, with spaces for the ends of lines, and | between files. */
void assert_files(bool part, const char *expected);

/* Somebody takes all finished files away, and those that are not. */
void files_remove_lines(void);

/* Leaves a file behind, as an agent does that is killed. */
void leave_file(const char *name, const char *text);

/* files_takeup.c */
TCase *files_takeup_cases(void);

#endif
