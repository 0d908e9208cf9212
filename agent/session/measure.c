/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/measure.h"

#include "session/newer.h"
#include "session/relayfiles.h"
#include "session/sharedmemory.h"

/* Of whom there are files, LTTng has buffers, of the size that the configuration wants. */
struct sum {
	struct user_buffers *buffers;
	uint64_t need;
};

static void add_trace(void *data, const struct stream_key *key)
{
	const struct sum *sum = data;

	if (key->user != KERNEL_USER)
		userbuffers_add(sum->buffers, key->user, sum->need);
}

static bool sum_up(
	const struct config *config, const struct session_identity *session, struct user_buffers *buffers)
{
	struct sum sum = {buffers, sharedmemory_need(config)};
	struct relayfiles *files;
	char error[512];
	enum relayfiles_status status =
		relayfiles_open(config->relay_output, session, &files, error, sizeof(error));

	if (status != RELAYFILES_OK)
		return status == RELAYFILES_NONE;
	relayfiles_each_trace(files, add_trace, &sum);
	relayfiles_close(files);
	return true;
}

void measure_buffers(
	const struct config *config, const struct session_identity *session, struct user_buffers *buffers)
{
	*buffers = (struct user_buffers){.heals = newer_heals()};
	buffers->known = sum_up(config, session, buffers);
}
