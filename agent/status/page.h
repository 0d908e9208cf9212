/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The page that the agent shows at /: one document of HTML, with its style and its script in it (page/), that
 * works without the script too. It fetches nothing but itself.
 */
#ifndef STATUS_PAGE_H
#define STATUS_PAGE_H

#include "base/buffer.h"
#include "status/status.h"
#include "status/tracefind.h"
#include "status/view.h"

/* What a browser may do with the page: nothing but run its own script and style. The same at all times. */
const char *page_policy(void);

/* One trace: waterfall.h. */
void page_write_trace(struct buffer *out, const struct found_trace *found, const struct config *config);

void page_write(struct buffer *out, const struct status *status, const struct view *view);

/* The page for those who may not see it: where the way in is. */
void page_write_denied(struct buffer *out);

#endif
