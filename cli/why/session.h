/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * For `blkin why` without folders: what the agent's sessions have on disk of a span, while they are being
 * written.
 *
 * Whole packets are copied, of programs all, and of the kernel those of the span's time. What the relay has
 * overwritten is gone, and what it is to write in a moment is not there yet.
 */
#ifndef WHY_SESSION_H
#define WHY_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include <glib.h>

#include "config/config.h"

/* No more is copied, of either: bytes. Of programs' packets the newest. */
#define SESSION_COPY_MAX (UINT64_C(1) << 30)
/* Before and behind the span, ns: for what its thread did then, and packets that are late. */
#define SESSION_MARGIN_NS INT64_C(1000000000)

/*
 * Copies what there is of the trace or span @id into @scratch, a folder that is made. Returns the folders of
 * the traces (of char *, to be unreffed), or NULL; why is logged. Whether the kernel's packets are there, but
 * cannot be found, goes to @unread. In any case session_remove is due.
 */
GPtrArray *session_copy(const struct config *config, const char *id, const char *scratch, bool *unread);

void session_remove(const char *scratch);

#endif
