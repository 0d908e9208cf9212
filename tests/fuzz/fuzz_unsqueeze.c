/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bodies in gzip: the first byte says how large one may be. What zlib can read is read, and means the same,
 * and no more memory is taken than is allowed.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include <glib.h>
#include <zlib.h>

#include "net/unsqueeze.h"

/* One member after the other; false if they are damaged, or more than @most. */
static bool read_by_zlib(const uint8_t *data, size_t size, size_t most, struct buffer *out)
{
	z_stream zip = {.next_in = (uint8_t *)(uintptr_t)data, .avail_in = (uInt)size};
	int status = inflateInit2(&zip, 15 + 16);

	while (status == Z_OK && out->size <= most) {
		zip.next_out = buffer_reserve(out, 4096);
		zip.avail_out = 4096;
		status = inflate(&zip, Z_NO_FLUSH);
		out->size += 4096 - zip.avail_out;
		if (status == Z_STREAM_END && zip.avail_in)
			status = inflateReset(&zip);
	}
	inflateEnd(&zip);
	return status == Z_STREAM_END && out->size <= most;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct unsqueeze *unsqueeze;
	struct buffer ours = {0}, zlibs = {0};
	enum unsqueezed result;
	uint8_t *copy;
	size_t most;

	if (size < 1)
		return 0;
	if (!unsqueeze)
		unsqueeze = unsqueeze_create();
	most = (size_t)data[0] * data[0] * 16;
	copy = malloc(size);
	memcpy(copy, data + 1, size - 1);
	result = unsqueeze_gzip(unsqueeze, copy, size - 1, most, &ours);
	fuzz_hold(ours.size <= most && ours.room <= 2 * most + 2 * 65536, "memory is bounded");
	fuzz_hold(result == UNSQUEEZED || !ours.size, "of a bad one nothing is there");
	if (read_by_zlib(copy, size - 1, most, &zlibs)) {
		fuzz_hold(result == UNSQUEEZED, "what zlib reads is read");
		fuzz_hold(
			ours.size == zlibs.size && (!ours.size || !memcmp(ours.data, zlibs.data, ours.size)),
			"and means the same");
	}
	free(copy);
	buffer_free(&ours);
	buffer_free(&zlibs);
	return 0;
}
