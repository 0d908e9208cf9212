/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/rendezvous.h"

#include <string.h>

#include <glib.h>

#include "base/siphash.h"

/* Known to all: nothing is kept from anybody. */
static const uint8_t key[SIPHASH_KEY_SIZE] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

uint64_t rendezvous_weight(const char *node, const char *address)
{
	g_autoptr(GString) both = g_string_new(node);

	g_string_append_c(both, '\0'); /* or `a1` and `2:80` would be `a` and `12:80` */
	g_string_append(both, address);
	return siphash(key, both->str, both->len);
}

static gint by_weight(gconstpointer one, gconstpointer other, gpointer node)
{
	char texts[2][ADDRESS_TEXT];
	uint64_t first, second;

	address_print(one, texts[0]);
	address_print(other, texts[1]);
	first = rendezvous_weight(node, texts[0]);
	second = rendezvous_weight(node, texts[1]);
	return first < second ? 1 : first > second ? -1 : 0;
}

void rendezvous_sort(const char *node, struct address *servers, size_t count)
{
	g_qsort_with_data(servers, (gint)count, sizeof(*servers), by_weight, (gpointer)node);
}
