/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "session/relaymetadata.h"

#include <string.h>
#include <unistd.h>

/* What comes before the first class of streams is a few kilobytes. */
#define HEAD_SIZE (64 * 1024)

static bool has(const char *head, size_t size, const char *word)
{
	return memmem(head, size, word, strlen(word));
}

bool relay_metadata_have_streams(struct relayfiles *files, const struct stream_key *key)
{
	int file = relayfiles_open_trace(files, key, "metadata");
	g_autofree char *head = g_malloc(HEAD_SIZE);
	ssize_t size = file < 0 ? 0 : pread(file, head, HEAD_SIZE, 0);

	if (file >= 0)
		close(file);
	/* not there yet, or not in one piece: it is not known */
	if (size <= 0 || size == HEAD_SIZE)
		return true;
	return has(head, (size_t)size, "stream {") || has(head, (size_t)size, "data-stream-class");
}
