/* SPDX-License-Identifier: BSD-2-Clause */
/* An index file as the relay daemon writes them: what is taken from it stays within bounds. */
#include "fuzz.h"

#include "session/relayindex.h"

static size_t taken;

static void take(void *data, const struct relay_packet *packet)
{
	(void)data;
	taken++;
	fuzz_hold(packet->size && packet->size <= RELAY_PACKET_MAX, "a packet has a size that may be");
	fuzz_hold(
		packet->offset + packet->size > packet->offset && packet->offset + packet->size <= INT64_MAX,
		"a packet is within what a file may hold");
	fuzz_hold(packet->begin <= packet->end, "a packet ends after it begins");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	taken = 0;
	relay_index_read(data, size, take, NULL);
	fuzz_hold(taken <= size / 72, "no more entries than there is room for");
	return 0;
}
