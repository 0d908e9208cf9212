/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = kafka`: how it delivers. */
#include <glib.h>

#include "output/kafka/inner.h"
#include "output/kafka/library.h"
#include "output/kafka/settings.h"

/* librdkafka. */
static bool check_library(char *why, size_t size)
{
	struct kafka_why words;

	if (library_load(&words))
		return true;
	g_strlcpy(why, words.words, size);
	return false;
}

/* For its key. */
static bool looks(const struct output_config *output)
{
	return settings_keyed(output, KIND_SPANS);
}

const struct uplink_type uplink_type_kafka = {
	.events = BATCH_EVENT_JSON,
	.looks = looks,
	.create = kafkauplink_create,
	.probe = kafkaprobe_begin,
	.check_library = check_library,
};
