/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/measure.h"

#include "session/channelsize.h"
#include "session/newer.h"
#include "session/relayfiles.h"
#include "session/relayfolder.h"
#include "session/sharedmemory.h"

/* Of whom there are streams, LTTng has buffers, of the size that the configuration wants. */
struct sum {
	struct user_buffers *buffers;
	struct relayfiles *files;
	uint64_t need;
};

/* If that cannot be found out, it has. */
static bool has_streams(struct relayfiles *files, const struct stream_key *key)
{
	g_autoptr(GPtrArray) names = relay_list_folder(relayfiles_open_trace(files, key, NULL));

	for (guint i = 0; names && i < names->len; i++)
		if (g_str_has_prefix(g_ptr_array_index(names, i), CHANNEL "_"))
			return true;
	return !names;
}

static void add_trace(void *data, const struct stream_key *key)
{
	const struct sum *sum = data;

	if (key->user == KERNEL_USER)
		return;
	if (has_streams(sum->files, key))
		userbuffers_add(sum->buffers, key->user, sum->need);
	else
		sum->buffers->lacking = true;
}

static bool sum_up(
	const struct config *config, const struct session_identity *session, struct user_buffers *buffers)
{
	struct sum sum = {.buffers = buffers, .need = sharedmemory_need(config)};
	char error[512];
	enum relayfiles_status status =
		relayfiles_open(config->relay_output, session, &sum.files, error, sizeof(error));

	if (status != RELAYFILES_OK)
		return status == RELAYFILES_NONE;
	relayfiles_each_trace(sum.files, add_trace, &sum);
	relayfiles_close(sum.files);
	return true;
}

void measure_buffers(
	const struct config *config, const struct session_identity *session, struct user_buffers *buffers)
{
	*buffers = (struct user_buffers){.heals = newer_heals()};
	buffers->known = sum_up(config, session, buffers);
}
