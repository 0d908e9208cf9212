/* SPDX-License-Identifier: BSD-2-Clause */
/* For `blkin why`: answers that the agent's flight recorder keeps (agent/supervise/flightfolder.h). */
#ifndef WHY_KEPT_H
#define WHY_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "config/config.h"

/* Whether there is one for the trace, or the span, @id; then it is printed, and @failed says whether standard
 * output did not take it, or it could not be read. */
bool kept_show(const struct config *config, uint64_t id, bool json, bool *failed);

/* The files of an answer that is being made, to be freed. */
struct kept_files {
	char *text, *json;
};

struct kept_files kept_files(const char *folder, uint64_t id);
void kept_files_free(struct kept_files *files);

/* Standard output goes into that file from now on; false, and it is logged, if it cannot be made. */
bool kept_begin(const char *path);

/* They are the trace's answer from now on; false, and it is logged, if that cannot be. */
bool kept_finish(const char *folder, uint64_t id, const struct kept_files *files);

#endif
