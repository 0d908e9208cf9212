/* SPDX-License-Identifier: BSD-2-Clause */
/* The agent's state at one moment, as a line, and as JSON, of which `blkin status` makes its text. */
#ifndef STATUS_STATUS_H
#define STATUS_STATUS_H

#include <stdbool.h>

#include "base/buffer.h"
#include "status/facts.h"

/* Reads it. To be destroyed: it is too large for a stack. */
struct status *status_create(const struct status_source *source);
void status_destroy(struct status *status);

/* Whether it collects, and each output delivers: what does not, for a moment, is no finding yet. */
bool status_is_well(const struct status *status);

/* How things are, in one line without an end: what `systemctl status` shows. It is asked for each second, so
 * programs are those that were counted last. */
void status_write_line(struct buffer *out, const struct status_source *source);
/* The same without the reasons, for where they are told, too. */
void status_write_summary(struct buffer *out, const struct status *status);
void status_write_json(struct buffer *out, const struct status *status);

#endif
