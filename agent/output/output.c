/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/output.h"

struct uplink_options output_options(const struct output_config *output)
{
	return (struct uplink_options){
		.server = output->server,
		.type = output->type == CONFIG_OUTPUT_HTTP ? UPLINK_HTTP : UPLINK_SCRIBE,
		.category = output->category,
		.path = output->path,
		.gzip = output->compression == CONFIG_COMPRESSION_GZIP,
		.use_tls = output->tls,
		.tls = {output->tls_ca, output->tls_certificate, output->tls_key},
		.window = (uint32_t)output->window,
		.timeout_ns = output->timeout,
		.backoff_min_ns = output->retry_min,
		.backoff_max_ns = output->retry_max,
		.return_ns = output->return_interval,
		.rate_limit = output->rate_limit,
	};
}

struct batch_limits output_batch_limits(const struct output_config *output)
{
	return (struct batch_limits){(uint32_t)output->batch_spans, output->batch_size, output->batch_delay,
		output->queue_size, false};
}
