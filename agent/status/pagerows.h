/* SPDX-License-Identifier: BSD-2-Clause */
/* The page's table of spans. */
#ifndef STATUS_PAGEROWS_H
#define STATUS_PAGEROWS_H

#include "base/buffer.h"
#include "config/config.h"
#include "status/view.h"

/* Writes the section, with what chooses its rows. */
void pagerows_write(
	struct buffer *out, const struct view *view, struct monitor *monitor, const struct config *config);

#endif
