/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = kafka`: how it delivers. */
#include <glib.h>

#include "kafka/settings.h"
#include "uplink/kafkaprobe.h"
#include "uplink/uplinktype.h"

/* librdkafka. */
static bool check_library(char *why, size_t size)
{
	struct kafka_why words;

	if (settings_check_library(&words))
		return true;
	g_strlcpy(why, words.words, size);
	return false;
}

/* One message to the topic, whichever broker has it. */
static size_t begin_probe(struct event_base *base, const struct uplink_options *options,
	const struct run *run, struct probe *probes[ADDRESSES_MAX])
{
	probes[0] = kafkaprobe_create(base, options, run);
	return 1;
}

const struct uplink_type uplink_type_kafka = {
	.events = BATCH_EVENT_JSON,
	.create = kafkauplink_create,
	.probe = begin_probe,
	.check_library = check_library,
};
