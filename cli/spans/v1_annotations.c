/* SPDX-License-Identifier: BSD-2-Clause */
#include "spans/v1_annotations.h"

#include <string.h>

#include <arpa/inet.h>

char *v1_copy_name(const char *name)
{
	char *valid, *lower;

	if (!name || !*name)
		return NULL;
	valid = g_utf8_make_valid(name, -1);
	lower = g_utf8_strdown(valid, -1);
	g_free(valid);
	return lower;
}

/* An IPv4-mapped IPv6 address is shown as IPv4. */
static void read_ipv6(const GByteArray *bytes, struct span2_endpoint *endpoint)
{
	static const uint8_t zeros[12], mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t loopback[16] = {[15] = 1};

	if (!bytes || bytes->len != 16)
		return;
	if (memcmp(bytes->data, mapped, 12) == 0 ||
		(memcmp(bytes->data, zeros, 12) == 0 && memcmp(bytes->data, loopback, 16) != 0))
		inet_ntop(AF_INET, bytes->data + 12, endpoint->ipv4, sizeof(endpoint->ipv4));
	else
		inet_ntop(AF_INET6, bytes->data, endpoint->ipv6, sizeof(endpoint->ipv6));
}

/* Returns whether there is anything in it: an endpoint without is none. */
static bool read_endpoint(const ZipkinEndpoint *v1, struct span2_endpoint *endpoint)
{
	uint32_t ipv4 = htonl((uint32_t)v1->ipv4);

	memset(endpoint, 0, sizeof(*endpoint));
	endpoint->service = v1_copy_name(v1->service_name);
	endpoint->port = (uint16_t)v1->port;
	if (ipv4)
		inet_ntop(AF_INET, &ipv4, endpoint->ipv4, sizeof(endpoint->ipv4));
	read_ipv6(v1->ipv6, endpoint);
	return endpoint->service || *endpoint->ipv4 || *endpoint->ipv6 || endpoint->port;
}

static void clear_note(void *data)
{
	g_free(((struct v1_annotation *)data)->host.service);
}

static int compare_notes(const void *a, const void *b)
{
	const struct v1_annotation *left = a, *right = b;
	int order;

	if (left->timestamp != right->timestamp)
		return left->timestamp < right->timestamp ? -1 : 1;
	order = strcmp(left->text, right->text);
	return order ? order : (left->order > right->order) - (left->order < right->order);
}

static GArray *new_notes(void)
{
	GArray *notes = g_array_new(FALSE, FALSE, sizeof(struct v1_annotation));

	g_array_set_clear_func(notes, clear_note);
	return notes;
}

GArray *v1_read_annotations(const ZipkinSpan *span)
{
	GArray *notes = new_notes();

	for (guint i = 0; i < span->annotations->len; i++) {
		const ZipkinAnnotation *v1 = g_ptr_array_index(span->annotations, i);
		struct v1_annotation note = {.order = i, .timestamp = v1->timestamp, .text = v1->value};

		if (!v1->timestamp || !v1->value)
			continue;
		if (v1->__isset_host)
			note.has_host = read_endpoint(v1->host, &note.host);
		g_array_append_val(notes, note);
	}
	g_array_sort(notes, compare_notes);
	return notes;
}

bool v1_is_address_key(const char *key)
{
	return strcmp(key, "ca") == 0 || strcmp(key, "sa") == 0 || strcmp(key, "ma") == 0;
}

GArray *v1_read_binary_annotations(const ZipkinSpan *span)
{
	GArray *notes = new_notes();

	for (guint i = 0; i < span->binary_annotations->len; i++) {
		const ZipkinBinaryAnnotation *v1 = g_ptr_array_index(span->binary_annotations, i);
		struct v1_annotation note = {.order = i, .text = v1->key, .binary = v1};
		bool is_true;

		if (!v1->key || !v1->value || !v1->__isset_annotation_type)
			continue;
		is_true = v1->annotation_type == ZIPKIN_ANNOTATION_TYPE_BOOL && v1->value->len == 1 &&
			  v1->value->data[0] == 1;
		if (v1->annotation_type != ZIPKIN_ANNOTATION_TYPE_STRING &&
			!(is_true && v1_is_address_key(v1->key)))
			continue;
		if (v1->__isset_host)
			note.has_host = read_endpoint(v1->host, &note.host);
		g_array_append_val(notes, note);
	}
	g_array_sort(notes, compare_notes);
	return notes;
}
