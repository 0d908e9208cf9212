/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * librdkafka, which is loaded by the first output that needs it: it brings three dozen other libraries in
 * some Debians, and most nodes have no such output.
 */
#ifndef OUTPUT_KAFKA_LIBRARY_H
#define OUTPUT_KAFKA_LIBRARY_H

#include <stdbool.h>

#include <librdkafka/rdkafka.h>

#include "output/kafka/why.h"

/* Its functions that are used: rd_kafka_NAME(). */
#define KAFKA_FUNCTIONS(FUNCTION)                                                                            \
	FUNCTION(conf_destroy)                                                                               \
	FUNCTION(conf_new)                                                                                   \
	FUNCTION(conf_set)                                                                                   \
	FUNCTION(conf_set_dr_msg_cb)                                                                         \
	FUNCTION(conf_set_error_cb)                                                                          \
	FUNCTION(conf_set_log_cb)                                                                            \
	FUNCTION(conf_set_opaque)                                                                            \
	FUNCTION(destroy)                                                                                    \
	FUNCTION(err2str)                                                                                    \
	FUNCTION(fatal_error)                                                                                \
	FUNCTION(message_status)                                                                             \
	FUNCTION(metadata)                                                                                   \
	FUNCTION(metadata_destroy)                                                                           \
	FUNCTION(new)                                                                                        \
	FUNCTION(poll)                                                                                       \
	FUNCTION(producev)                                                                                   \
	FUNCTION(purge)                                                                                      \
	FUNCTION(queue_destroy)                                                                              \
	FUNCTION(queue_get_main)                                                                             \
	FUNCTION(queue_io_event_enable)                                                                      \
	FUNCTION(topic_destroy)                                                                              \
	FUNCTION(topic_new)

struct kafka_library {
#define FUNCTION(name) __typeof__(rd_kafka_##name) *name;
	KAFKA_FUNCTIONS(FUNCTION)
#undef FUNCTION
};

/* NULL until it is loaded, which it stays. */
extern const struct kafka_library *rd;

/* Loads it, unless it is loaded; otherwise @why says why it cannot be. */
bool library_load(struct kafka_why *why);

#endif
