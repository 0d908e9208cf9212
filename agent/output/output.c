/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/output.h"

struct uplink_options output_options(const struct config *config)
{
	return (struct uplink_options){
		.server = config->server,
		.type = config->output_type == CONFIG_OUTPUT_HTTP ? UPLINK_HTTP : UPLINK_SCRIBE,
		.category = config->category,
		.path = config->path,
		.gzip = config->compression == CONFIG_COMPRESSION_GZIP,
		.use_tls = config->tls,
		.tls = {config->tls_ca, config->tls_certificate, config->tls_key},
		.window = (uint32_t)config->window,
		.timeout_ns = config->timeout,
		.backoff_min_ns = config->retry_min,
		.backoff_max_ns = config->retry_max,
		.return_ns = config->return_interval,
		.rate_limit = config->rate_limit,
	};
}

struct batch_limits output_batch_limits(const struct config *config)
{
	return (struct batch_limits){(uint32_t)config->batch_spans, config->batch_size, config->batch_delay,
		config->queue_size, false};
}
