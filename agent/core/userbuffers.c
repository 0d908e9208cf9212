/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/userbuffers.h"

void userbuffers_add(struct user_buffers *buffers, uint64_t user, uint64_t bytes)
{
	uint32_t at = 0;

	while (at < buffers->count && buffers->of[at].user != user)
		at++;
	if (at == USERBUFFERS_MAX) {
		buffers->more = true;
		buffers->other_bytes += bytes;
		return;
	}
	if (at == buffers->count)
		buffers->of[buffers->count++] = (struct buffers_of){.user = user};
	buffers->of[at].bytes += bytes;
}

uint64_t userbuffers_sum(const struct user_buffers *buffers)
{
	uint64_t sum = buffers->other_bytes;

	for (uint32_t i = 0; i < buffers->count; i++)
		sum += buffers->of[i].bytes;
	return sum;
}

uint64_t userbuffers_most(const struct user_buffers *buffers)
{
	uint64_t most = 0;

	for (uint32_t i = 0; i < buffers->count; i++)
		most = buffers->of[i].bytes > most ? buffers->of[i].bytes : most;
	return most;
}
