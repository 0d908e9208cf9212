/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checkpoint: bytes that outlive the agent, however it ends. What they mean is for checkpoint.h and its
 * users to know.
 *
 * It is kept in two files in the state directory that are written in turn (base/twoslots.h), each with a
 * header: magic, version, number, size, CRC. A write is a copy into the kernel's memory, which outlives the
 * process; it goes to the disk only with @sync, because a crash of the machine ends LTTng's session too.
 *
 * One thread at a time may call it.
 */
#ifndef OUTPUT_CHECKPOINTFILE_H
#define OUTPUT_CHECKPOINTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* What is kept of a buffer between two positions: those with many spans in assembly are of megabytes, and
 * there are several. */
#define CHECKPOINT_KEPT_SIZE (256 * 1024)

struct checkpoint_file;

enum checkpoint_file_state {
	CHECKPOINT_NONE,  /* there is none: never written, or removed */
	CHECKPOINT_FOUND, /* @data has it */
	CHECKPOINT_BROKEN /* there is one that cannot be read: @error says why */
};

/*
 * Opens the checkpoint in @folder, which is made if its parent exists, and locks it against a second agent.
 * Returns NULL on failure, with what to do in @error; @locked says whether another agent has it.
 */
struct checkpoint_file *checkpoint_file_open(
	const char *folder, bool *locked, char *error, size_t error_size);

/* The same of other bytes beside it, in files of another name. */
struct checkpoint_file *checkpoint_file_open_as(
	const char *name, const char *folder, bool *locked, char *error, size_t error_size);

/* Reads what was written last, into @data. */
enum checkpoint_file_state checkpoint_file_read(
	struct checkpoint_file *checkpoint, struct buffer *data, char *error, size_t error_size);

/* Writes it; returns 0, or an errno. */
int checkpoint_file_write(struct checkpoint_file *checkpoint, const void *data, size_t size, bool sync);

/* The number of the last one that was read or written: each has a higher one than those before. */
uint64_t checkpoint_file_number(const struct checkpoint_file *checkpoint);

/* Empties both files: the next checkpoint_read finds none. Returns 0, or an errno. */
int checkpoint_file_remove(struct checkpoint_file *checkpoint);

/* Closes and unlocks it; the files stay. */
void checkpoint_file_close(struct checkpoint_file *checkpoint);

#endif
