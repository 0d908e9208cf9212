/* SPDX-License-Identifier: BSD-2-Clause */
#include "unpack.h"

#include <stdbool.h>
#include <stdint.h>

#include <zlib.h>
#include <zstd.h>

static GByteArray *finish(GByteArray *out, bool good)
{
	if (!good)
		g_byte_array_unref(out);
	return good ? out : NULL;
}

GByteArray *unpack_none(const void *body, size_t size)
{
	return g_byte_array_append(g_byte_array_new(), body, (guint)size);
}

GByteArray *unpack_gzip(const void *body, size_t size)
{
	GByteArray *out = g_byte_array_new();
	z_stream zip = {.next_in = (uint8_t *)body, .avail_in = (uInt)size};
	uint8_t piece[4096];
	int status = inflateInit2(&zip, 15 + 16);

	while (status == Z_OK) {
		zip.next_out = piece;
		zip.avail_out = sizeof(piece);
		status = inflate(&zip, Z_NO_FLUSH);
		g_byte_array_append(out, piece, (guint)(sizeof(piece) - zip.avail_out));
	}
	inflateEnd(&zip);
	return finish(out, status == Z_STREAM_END && zip.avail_in == 0);
}

GByteArray *unpack_zstd(const void *body, size_t size)
{
	GByteArray *out = g_byte_array_new();
	ZSTD_DCtx *context = ZSTD_createDCtx();
	ZSTD_inBuffer in = {body, size, 0};
	uint8_t piece[4096];
	size_t left = 1, before;

	do {
		ZSTD_outBuffer to = {piece, sizeof(piece), 0};

		before = in.pos;
		left = ZSTD_decompressStream(context, &to, &in);
		g_byte_array_append(out, piece, (guint)to.pos);
		if (to.pos == 0 && in.pos == before)
			break;
	} while (left != 0 && !ZSTD_isError(left));
	ZSTD_freeDCtx(context);
	return finish(out, left == 0 && in.pos == size);
}
