/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A trace in memory: the files of one user's folder, as lttng-relayd writes them. In a corpus it is one file:
 * "NAME SIZE\n" and the bytes, for each.
 */
#ifndef TRACE_FILES_H
#define TRACE_FILES_H

#include <stdbool.h>

#include <glib.h>

struct trace_file {
	char *name; /* within the trace's folder, as index/spans_0_0.idx */
	GByteArray *bytes;
};

/* A list of struct trace_file *. */
typedef GPtrArray trace_files;

trace_files *trace_create(void);
trace_files *trace_copy(const trace_files *trace);

void trace_add(trace_files *trace, const char *name, const void *bytes, size_t size);

/* Whether lttng-relayd could have written a file of this name. */
bool trace_is_name(const char *name);

/* NULL if there is none. */
struct trace_file *trace_find(const trace_files *trace, const char *name);

/* From a file of a corpus, or from a folder; NULL if it is neither. */
trace_files *trace_read(const char *path);

/* To a file of a corpus; to a folder, which is made. */
void trace_write(const trace_files *trace, const char *path);
void trace_write_folder(const trace_files *trace, const char *folder);

#endif
