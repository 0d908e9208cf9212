/* SPDX-License-Identifier: BSD-2-Clause */
#include "uplink_web.h"

static const enum config_compression compressions[] = {
	[SQUEEZE_GZIP] = CONFIG_COMPRESSION_GZIP,
	[SQUEEZE_ZSTD] = CONFIG_COMPRESSION_ZSTD,
	[SQUEEZE_NONE] = CONFIG_COMPRESSION_NONE,
};

void open_web(struct web *web, enum squeeze_kind compression)
{
	rig_open(&web->rig);
	web->peer = webpeer_create(web->rig.base);
	web->peer->compression = compression;
	snprintf(web->rig.server, sizeof(web->rig.server), "127.0.0.1:%u", web->peer->port);
	web->rig.is.type = CONFIG_OUTPUT_HTTP;
	web->rig.is.compression = compressions[compression];
}

void close_web(struct web *web)
{
	webpeer_destroy(web->peer);
	rig_close(&web->rig);
}
