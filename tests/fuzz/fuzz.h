/* SPDX-License-Identifier: BSD-2-Clause */
/* What the fuzzers share. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Ends the program unless @condition holds. */
void fuzz_hold(bool condition, const char *rule);

/* A folder of this process in memory, which is removed at the end; borrowed. */
const char *fuzz_folder(void);

/* Removes what is in it. */
void fuzz_clear_folder(void);

/* Writes a file into it; returns its path, to be freed by g_free. */
char *fuzz_write(const char *name, const uint8_t *data, size_t size);

/* Whether @text is what may go into a log: printable, or UTF-8, in one line. */
bool fuzz_is_printable(const char *text);

#endif
