/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checkpoint: bytes that outlive the agent, however it ends.
 *
 * Two files in the state directory are written in turn, each with a header (magic, version, number, size,
 * CRC); what counts is the one with the higher number that is whole. So a process that is killed while it
 * writes loses one write at most. A write is no more than a copy into the kernel's memory: it is put on disk
 * only where @sync says so, as after a crash of the whole machine LTTng's session is gone too.
 *
 * The room knows nothing of what the bytes mean. All calls belong to one thread at a time.
 */
#ifndef COLLECT_CHECKPOINT_H
#define COLLECT_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

struct checkpoint;

enum checkpoint_state {
	CHECKPOINT_NONE,  /* there never was one, or it was removed */
	CHECKPOINT_FOUND, /* @data has it */
	CHECKPOINT_BROKEN /* there is one that cannot be read: @error says why */
};

/*
 * Opens the checkpoint in @folder, which is made if only it is missing, and locks it: a second agent must not
 * use it too. Returns NULL on failure, with what to do in @error; @locked then tells whether it was for
 * another agent.
 */
struct checkpoint *checkpoint_open(const char *folder, bool *locked, char *error, size_t error_size);

/* Reads what was written last, into @data. */
enum checkpoint_state checkpoint_read(
	struct checkpoint *checkpoint, struct buffer *data, char *error, size_t error_size);

/* Writes it; returns 0, or an errno. */
int checkpoint_write(struct checkpoint *checkpoint, const void *data, size_t size, bool sync);

/* Empties both files: the next checkpoint_read finds none. Returns 0, or an errno. */
int checkpoint_remove(struct checkpoint *checkpoint);

/* Closes and unlocks it; the files stay. */
void checkpoint_close(struct checkpoint *checkpoint);

#endif
