/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/relaymetadata.h"

#include <sys/stat.h>
#include <unistd.h>

struct look {
	struct relayfiles *files;
	GArray *users; /* of struct relay_metadata */
};

static uint64_t size_of(struct relayfiles *files, const struct stream_key *key)
{
	int file = relayfiles_open_trace(files, key, "metadata");
	struct stat stat;
	uint64_t size = 0;

	if (file < 0)
		return 0;
	if (fstat(file, &stat) == 0 && S_ISREG(stat.st_mode))
		size = (uint64_t)stat.st_size;
	close(file);
	return size;
}

/* A user's traces, one for each word size, come one after the other. */
static void add(void *data, const struct stream_key *key)
{
	struct look *look = data;
	struct relay_metadata found = {.user = key->user, .size = size_of(look->files, key)};
	guint count = look->users->len;
	struct relay_metadata *last =
		count ? &g_array_index(look->users, struct relay_metadata, count - 1) : NULL;

	if (last && last->user == found.user)
		last->size += found.size;
	else
		g_array_append_val(look->users, found);
}

static int by_user(const void *left, const void *right)
{
	const struct relay_metadata *a = left, *b = right;

	return (a->user > b->user) - (a->user < b->user);
}

GArray *relay_metadata_above(struct relayfiles *files, uint64_t most)
{
	struct look look = {files, g_array_new(FALSE, FALSE, sizeof(struct relay_metadata))};

	relayfiles_each_trace(files, add, &look);
	for (guint i = look.users->len; i > 0; i--)
		if (g_array_index(look.users, struct relay_metadata, i - 1).size <= most)
			g_array_remove_index_fast(look.users, i - 1);
	g_array_sort(look.users, by_user);
	return look.users;
}
