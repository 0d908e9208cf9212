/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/server/posts.h"

#include <stddef.h>

#include "output/uplink/payloads.h"
#include "output/uplink/uplinktype.h"

static enum squeeze_kind squeeze_kind(const struct output_config *is)
{
	static const enum squeeze_kind kinds[] = {
		[CONFIG_COMPRESSION_GZIP] = SQUEEZE_GZIP,
		[CONFIG_COMPRESSION_ZSTD] = SQUEEZE_ZSTD,
		[CONFIG_COMPRESSION_NONE] = SQUEEZE_NONE,
	};

	return kinds[is->compression];
}

struct wire *posts_create_wire(const struct uplink_options *options, const struct address *address,
	httppost_reader *read_reply, bool tells_via)
{
	const struct output_config *is = options->is;
	const struct httppost_options http = {.server = address,
		.path = options->kind == KIND_SPANS ? is->path : is->logs_path,
		.headers_file = is->headers_file,
		/* through a tunnel, the server sees no proxy */
		.proxy = is->tls ? NULL : is->proxy,
		.proxy_secret_file = is->proxy_secret_file,
		.compression = squeeze_kind(is),
		.tells_via = tells_via};

	return httppost_create(&http,
		payload_create(uplink_format(is, options->kind), http.compression == SQUEEZE_GZIP),
		read_reply);
}
