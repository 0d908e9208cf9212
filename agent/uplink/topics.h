/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Topics of Kafka for messages, by their category: what a topic's name cannot have becomes `_`. Who sends
 * messages makes up categories, and a client of Kafka never forgets a topic: so there are only so many.
 */
#ifndef UPLINK_TOPICS_H
#define UPLINK_TOPICS_H

#include <stddef.h>
#include <stdint.h>

#include <glib.h>

/* Characters of a topic's name, and different ones. */
#define TOPIC_SIZE 250
#define TOPICS_MAX 1000

void topic_name(char name[TOPIC_SIZE], const uint8_t *category, size_t size);

/* Whether the topic is one of @topics, a set of names, or may be added. */
gboolean topic_admit(GHashTable *topics, const char *name);

#endif
