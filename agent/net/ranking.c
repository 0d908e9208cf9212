/* SPDX-License-Identifier: BSD-2-Clause */
#include "net/ranking.h"

#include <stdlib.h>
#include <string.h>

#include "base/rendezvous.h"

static bool is_avoided(const struct avoided *avoided, uint64_t weight)
{
	for (unsigned i = 0; avoided && i < avoided->count; i++)
		if (avoided->weights[i] == weight)
			return true;
	return false;
}

void avoided_add(struct avoided *avoided, uint64_t weight, int64_t until)
{
	if (avoided->count == AVOIDED_MAX || is_avoided(avoided, weight))
		avoided->count = 0;
	if (!avoided->count)
		avoided->until = until;
	avoided->weights[avoided->count++] = weight;
}

static void print(const struct addrinfo *address, char *text)
{
	struct address is = {0};
	char port[8];

	if (getnameinfo(address->ai_addr, address->ai_addrlen, is.host, sizeof(is.host), port, sizeof(port),
		    NI_NUMERICHOST | NI_NUMERICSERV) == 0)
		is.port = (uint16_t)atoi(port);
	address_print(&is, text);
}

static gint by_weight(gconstpointer left, gconstpointer right, gpointer data)
{
	const struct ranked *one = left, *other = right;
	const int *family = data;
	const bool first = one->address->ai_family == *family, second = other->address->ai_family == *family;

	if (first != second)
		return first ? -1 : 1;
	return one->weight < other->weight ? 1 : one->weight > other->weight ? -1 : 0;
}

static gint by_turn(gconstpointer left, gconstpointer right)
{
	const struct ranked *one = left, *other = right;

	if (one->beside != other->beside)
		return one->beside ? -1 : 1;
	if (one->avoided != other->avoided)
		return one->avoided ? 1 : -1;
	return one->rank < other->rank ? -1 : 1;
}

GArray *ranking_create(const struct addrinfo *addresses, const char *node, const struct avoided *avoided,
	const struct reached *beside)
{
	GArray *ranking = g_array_new(FALSE, TRUE, sizeof(struct ranked));
	int family = addresses ? addresses->ai_family : 0;

	for (const struct addrinfo *at = addresses; at; at = at->ai_next) {
		struct ranked one = {.address = at};

		print(at, one.text);
		one.weight = node ? rendezvous_weight(node, one.text) : 0;
		one.avoided = node && is_avoided(avoided, one.weight);
		one.beside = node && beside && beside->count && beside->weight == one.weight;
		g_array_append_val(ranking, one);
	}
	if (node)
		g_array_sort_with_data(ranking, by_weight, &family);
	for (guint i = 0; i < ranking->len; i++)
		g_array_index(ranking, struct ranked, i).rank = i;
	if (node)
		g_array_sort(ranking, by_turn);
	return ranking;
}
