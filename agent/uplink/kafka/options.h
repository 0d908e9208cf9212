/* SPDX-License-Identifier: BSD-2-Clause */
/* What an uplink to Kafka keeps of its options. */
#ifndef UPLINK_KAFKAOPTIONS_H
#define UPLINK_KAFKAOPTIONS_H

#include "uplink/uplink.h"

struct kafkaoptions {
	struct kafka_settings settings; /* with texts of its own */
	uint32_t window;
};

/* A copy; NULL, having logged why, if the files of TLS do not do. */
struct kafkaoptions *kafkaoptions_create(const struct uplink_options *options);
void kafkaoptions_free(struct kafkaoptions *options);

#endif
