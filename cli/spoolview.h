/* SPDX-License-Identifier: BSD-2-Clause */
/* The spool's file, opened to be looked at, while an agent may be writing to it. */
#ifndef SPOOLVIEW_H
#define SPOOLVIEW_H

#include <stdbool.h>
#include <stddef.h>

#include <sqlite3.h>

/*
 * Opens the spool in @directory for reading. Returns 0 with the database, which sqlite3_close ends, or NULL
 * in @db if there is no spool yet; otherwise an exit code, having logged what is wrong.
 */
int spoolview_open(const char *directory, sqlite3 **db);

/* Logs why SQLite failed with @rc; returns an exit code. */
int spoolview_failed(const char *directory, int rc);

#endif
