/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/kafka/items.h"

#include <string.h>

#include "net/message.h"
#include "output/uplink/payloads.h"
#include "output/uplink/uplinktype.h"

void topic_name(char name[TOPIC_SIZE], const uint8_t *category, size_t size)
{
	size = MIN(size, TOPIC_SIZE - 1);
	for (size_t i = 0; i < size; i++) {
		char c = (char)category[i];

		name[i] = g_ascii_isalnum(c) || c == '.' || c == '_' || c == '-' ? c : '_';
	}
	name[size] = '\0';
	if (!*name || !strcmp(name, ".") || !strcmp(name, ".."))
		g_strlcpy(name, "_", TOPIC_SIZE);
}

gboolean topic_admit(GHashTable *topics, const char *name)
{
	if (g_hash_table_contains(topics, name))
		return TRUE;
	if (g_hash_table_size(topics) >= TOPICS_MAX)
		return FALSE;
	g_hash_table_add(topics, g_strdup(name));
	return TRUE;
}

void kafkaitems_init(struct kafkaitems *items, const struct uplink_options *options)
{
	const struct output_config *is = options->is;

	*items = (struct kafkaitems){.keyed = settings_keyed(is, options->kind)};
	if (!settings_single(options->kind))
		items->payload = payload_create(uplink_format(is, options->kind), false);
	else if (!settings_topic(is, options->kind))
		items->topics = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
}

void kafkaitems_free(struct kafkaitems *items)
{
	if (items->payload)
		items->payload->destroy(items->payload);
	if (items->topics)
		g_hash_table_unref(items->topics);
}

void kafkaitems_forget(struct kafkaitems *items)
{
	if (items->topics)
		g_hash_table_remove_all(items->topics);
}

void kafkaitem_single(struct kafkaitem *item, enum batch_format format, const struct run *run, bool own_topic)
{
	struct message message = {.payload = run->spans, .payload_size = (uint32_t)run->size};
	struct message_label *label = &item->label;

	if (format == BATCH_MESSAGES) {
		message_read(run->spans, run->size, &message);
		label->category = message.category_size ? (const void *)message.category : "";
		label->category_size = message.category_size;
	}
	if (own_topic) {
		topic_name(item->topic, message.category, message.category_size);
		label->topic = item->topic;
	} else {
		label->key = label->category;
		label->key_size = label->category_size;
	}
	buffer_put(&item->bytes, message.payload, message.payload_size);
}

static void make_payload(
	struct kafkaitems *items, struct delivery *delivery, struct piece *piece, struct kafkaitem *item)
{
	struct run run;

	if (items->keyed) {
		delivery_keep_trace(delivery, piece, item->key);
		item->label.key = item->key;
		item->label.key_size = strlen(item->key);
	}
	delivery_sends(delivery, piece);
	piece_run(piece, &run);
	payload_append(items->payload, &run, &item->bytes);
}

bool kafkaitems_make(struct kafkaitems *items, struct delivery *delivery, struct piece *piece,
	struct kafkaitem *item, struct message_end *end)
{
	struct run run;

	*item = (struct kafkaitem){{0}};
	if (items->payload) {
		make_payload(items, delivery, piece, item);
		return true;
	}
	delivery_keep(delivery, piece, 1);
	delivery_sends(delivery, piece);
	piece_run(piece, &run);
	kafkaitem_single(item, delivery->format, &run, items->topics != NULL);
	if (!items->topics || topic_admit(items->topics, item->topic))
		return true;
	buffer_free(&item->bytes);
	*end = (struct message_end){.result = MESSAGE_REFUSED,
		.words = "its category would be a topic too many: set `messages-topic`"};
	return false;
}
