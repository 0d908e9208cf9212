/* SPDX-License-Identifier: BSD-2-Clause */
#include "uplink/topics.h"

#include <string.h>

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
