/* SPDX-License-Identifier: BSD-2-Clause */
/* A password in a file of its own. */
#ifndef BASE_SECRET_H
#define BASE_SECRET_H

#include <stdbool.h>
#include <stddef.h>

/* A larger file holds no password. */
#define SECRET_MAX 1024

/*
 * Reads the first line of the file, without what ends it; explicit_bzero of it is the caller's. False if that
 * cannot be done, with one sentence in @why, of @size bytes.
 */
bool secret_read(const char *path, char secret[SECRET_MAX], char *why, size_t size);

#endif
