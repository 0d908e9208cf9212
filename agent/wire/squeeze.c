/* SPDX-License-Identifier: BSD-2-Clause */
#include "wire/squeeze.h"

#include <stdlib.h>

#include <glib.h>
#include <libdeflate.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/memory.h"

#define LEVEL 1
/* More than either library allocates. */
#define LIBRARY_MEMORY ((size_t)4 << 20)

struct squeeze {
	enum squeeze_kind kind;
	struct libdeflate_compressor *deflate; /* of SQUEEZE_GZIP */
	ZSTD_CCtx *zstd;                       /* of SQUEEZE_ZSTD */
	struct buffer joined;                  /* the pieces of a body, where there are several */
};

/* The libraries fail where memory is short; it is waited for here, as for all that carries spans. */
static void wait_for_memory(void)
{
	free(memory_get(LIBRARY_MEMORY));
}

struct squeeze *squeeze_create(enum squeeze_kind kind)
{
	struct squeeze *squeeze = memory_get(sizeof(*squeeze));

	squeeze->kind = kind;
	while (kind == SQUEEZE_GZIP && !(squeeze->deflate = libdeflate_alloc_compressor(LEVEL)))
		wait_for_memory();
	while (kind == SQUEEZE_ZSTD && !(squeeze->zstd = ZSTD_createCCtx()))
		wait_for_memory();
	if (squeeze->zstd &&
		ZSTD_isError(ZSTD_CCtx_setParameter(squeeze->zstd, ZSTD_c_compressionLevel, LEVEL)))
		g_error("zstd has no level %d", LEVEL);
	return squeeze;
}

void squeeze_destroy(struct squeeze *squeeze)
{
	if (!squeeze)
		return;
	libdeflate_free_compressor(squeeze->deflate);
	ZSTD_freeCCtx(squeeze->zstd);
	buffer_free(&squeeze->joined);
	free(squeeze);
}

const char *squeeze_encoding(const struct squeeze *squeeze)
{
	static const char *const names[] = {
		[SQUEEZE_NONE] = NULL, [SQUEEZE_GZIP] = "gzip", [SQUEEZE_ZSTD] = "zstd"};

	return names[squeeze->kind];
}

static void put_pieces(const struct squeeze_piece *pieces, size_t count, struct buffer *out)
{
	for (size_t i = 0; i < count; i++)
		buffer_put(out, pieces[i].data, pieces[i].size);
}

/* Both libraries take one piece. */
static struct squeeze_piece join(struct squeeze *squeeze, const struct squeeze_piece *pieces, size_t count)
{
	if (count == 1)
		return pieces[0];
	squeeze->joined.size = 0;
	put_pieces(pieces, count, &squeeze->joined);
	return (struct squeeze_piece){squeeze->joined.data, squeeze->joined.size};
}

static void put_gzip(struct squeeze *squeeze, struct squeeze_piece body, struct buffer *out)
{
	size_t room = libdeflate_gzip_compress_bound(squeeze->deflate, body.size);
	uint8_t *to = buffer_reserve(out, room);
	size_t size =
		libdeflate_gzip_compress(squeeze->deflate, body.size ? body.data : "", body.size, to, room);

	if (!size) /* There is room for all, and it allocates nothing. */
		g_error("libdeflate does not compress");
	out->size += size;
}

static void put_zstd(struct squeeze *squeeze, struct squeeze_piece body, struct buffer *out)
{
	size_t room = ZSTD_compressBound(body.size);
	uint8_t *to = buffer_reserve(out, room);
	size_t size;

	while (ZSTD_isError(size = ZSTD_compress2(squeeze->zstd, to, room, body.data, body.size))) {
		if (ZSTD_getErrorCode(size) != ZSTD_error_memory_allocation)
			g_error("zstd does not compress: %s", ZSTD_getErrorName(size));
		wait_for_memory();
	}
	out->size += size;
}

void squeeze_put(
	struct squeeze *squeeze, const struct squeeze_piece *pieces, size_t count, struct buffer *out)
{
	if (squeeze->kind == SQUEEZE_GZIP)
		put_gzip(squeeze, join(squeeze, pieces, count), out);
	else if (squeeze->kind == SQUEEZE_ZSTD)
		put_zstd(squeeze, join(squeeze, pieces, count), out);
	else
		put_pieces(pieces, count, out);
}
