/* SPDX-License-Identifier: BSD-2-Clause */
/* The answer to /metrics, in the form that the scraper prefers. */
#ifndef STATUS_SCRAPE_H
#define STATUS_SCRAPE_H

#include "base/buffer.h"
#include "stats/statistics.h"
#include "status/status.h"

#define SCRAPE_PATH "/metrics"

/* @accept: the request's header of that name, or NULL. Returns the answer's content type. */
const char *scrape(struct buffer *out, const struct status *status, const struct statistics *statistics,
	const char *accept);

#endif
