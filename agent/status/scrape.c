/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/scrape.h"

#include "status/exposition.h"
#include "status/metrics.h"
#include "status/spanmetrics.h"

const char *scrape(struct buffer *out, const struct status *status, const struct statistics *statistics,
	const char *accept)
{
	enum exposition form = exposition_wanted(accept);

	if (form == EXPOSITION_OPENMETRICS) {
		struct buffer text = {0};

		metrics_write(&text, status);
		exposition_convert(out, &text);
		buffer_free(&text);
	} else {
		metrics_write(out, status);
	}
	spanmetrics_write(out, statistics, metrics_listed(status), form);
	if (form == EXPOSITION_OPENMETRICS)
		buffer_printf(out, "# EOF\n");
	return exposition_type(form);
}
