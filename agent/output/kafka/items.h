/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What becomes a message of Kafka: a batch of spans, or those of one trace in it, whose id is the key; a
 * single event; or a single message of Scribe's, in the topic that its category is, or with its category as
 * the key in a topic for all.
 *
 * In the name of a topic, what it cannot have becomes `_`. Who sends messages makes up categories, and a
 * client of Kafka never forgets a topic: so there are only so many.
 */
#ifndef OUTPUT_KAFKA_ITEMS_H
#define OUTPUT_KAFKA_ITEMS_H

#include <glib.h>

#include "output/kafka/producer.h"
#include "output/uplink/delivery.h"
#include "output/uplink/uplink.h"

/* Characters of a topic's name, and different ones. */
#define TOPIC_SIZE 250
#define TOPICS_MAX 1000

struct kafkaitems {
	bool keyed;
	struct payload *payload; /* NULL: an item is a message */
	GHashTable *topics;      /* that messages chose; NULL: there is one for all */
};

struct kafkaitem {
	struct message_label label; /* borrows from what follows, and from the piece */
	struct buffer bytes;        /* the caller's */
	char topic[TOPIC_SIZE], key[BYTRACE_KEY];
};

void kafkaitems_init(struct kafkaitems *items, const struct uplink_options *options);
void kafkaitems_free(struct kafkaitems *items);

/* Another producer has no topics yet. */
void kafkaitems_forget(struct kafkaitems *items);

/* Leaves @piece what goes into one message, which is sent now; the rest is taken next. False if it cannot be
 * sent, as @end says. */
bool kafkaitems_make(struct kafkaitems *items, struct delivery *delivery, struct piece *piece,
	struct kafkaitem *item, struct message_end *end);

/* A run's single item; a topic is the item's own if there is none for all. */
void kafkaitem_single(
	struct kafkaitem *item, enum batch_format format, const struct run *run, bool own_topic);

/* The topic of a category. */
void topic_name(char name[TOPIC_SIZE], const uint8_t *category, size_t size);

/* Whether the topic is one of @topics, a set of names, or may be added. */
gboolean topic_admit(GHashTable *topics, const char *name);

#endif
