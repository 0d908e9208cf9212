/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/trace/span2.h"

#include <inttypes.h>
#include <string.h>

#include <arpa/inet.h>

#include "base/json.h"
#include "encode/zipkin.h"

static void clear_annotation(void *data)
{
	g_free(((struct span2_annotation *)data)->value);
}

static void clear_tag(void *data)
{
	struct span2_tag *tag = data;

	g_free(tag->key);
	g_free(tag->value);
}

struct span2 *span2_new(void)
{
	struct span2 *span = g_new0(struct span2, 1);

	span->annotations = g_array_new(FALSE, FALSE, sizeof(struct span2_annotation));
	span->tags = g_array_new(FALSE, FALSE, sizeof(struct span2_tag));
	g_array_set_clear_func(span->annotations, clear_annotation);
	g_array_set_clear_func(span->tags, clear_tag);
	return span;
}

static void endpoint_free(struct span2_endpoint *endpoint)
{
	if (endpoint)
		g_free(endpoint->service);
	g_free(endpoint);
}

void span2_free(void *data)
{
	struct span2 *span = data;

	if (!span)
		return;
	g_free(span->name);
	endpoint_free(span->local);
	endpoint_free(span->remote);
	g_array_unref(span->annotations);
	g_array_unref(span->tags);
	g_free(span);
}

struct span2_endpoint *span2_endpoint_copy(const struct span2_endpoint *endpoint)
{
	struct span2_endpoint *copy;

	if (!endpoint)
		return NULL;
	copy = g_new(struct span2_endpoint, 1);
	*copy = *endpoint;
	copy->service = g_strdup(endpoint->service);
	return copy;
}

static bool is_ipv4(const uint8_t address[16])
{
	static const uint8_t zeros[12], mapped[12] = {[10] = 0xff, [11] = 0xff};
	static const uint8_t loopback[16] = {[15] = 1};

	return memcmp(address, mapped, 12) == 0 ||
	       (memcmp(address, zeros, 12) == 0 && memcmp(address, loopback, 16) != 0);
}

void span2_endpoint_address(struct span2_endpoint *endpoint, const void *address, size_t size)
{
	static const uint8_t zeros[4];
	const uint8_t *bytes = address;

	if (size == 16 && is_ipv4(bytes)) {
		bytes += 12;
		size = 4;
	}
	if (size == 4 && memcmp(bytes, zeros, 4) != 0)
		inet_ntop(AF_INET, bytes, endpoint->ipv4, sizeof(endpoint->ipv4));
	else if (size == 16)
		inet_ntop(AF_INET6, bytes, endpoint->ipv6, sizeof(endpoint->ipv6));
}

bool span2_endpoint_is_known(const struct span2_endpoint *endpoint)
{
	return endpoint->service || *endpoint->ipv4 || *endpoint->ipv6 || endpoint->port;
}

const char *span2_kind_name(enum span2_kind kind)
{
	static const char *const names[] = {"", "client", "server", "producer", "consumer"};

	return names[kind];
}

void span2_annotate(struct span2 *span, int64_t timestamp, const char *value)
{
	struct span2_annotation annotation = {.timestamp = timestamp, .value = g_strdup(value)};

	g_array_append_val(span->annotations, annotation);
}

void span2_tag(struct span2 *span, const char *key, const void *value, size_t value_size)
{
	struct span2_tag tag = {
		.key = g_strdup(key), .value = g_malloc(value_size + 1), .value_size = value_size};

	if (value_size)
		memcpy(tag.value, value, value_size);
	tag.value[value_size] = '\0';
	g_array_append_val(span->tags, tag);
}

static int compare_annotations(const void *a, const void *b)
{
	const struct span2_annotation *left = a, *right = b;

	if (left->timestamp != right->timestamp)
		return left->timestamp < right->timestamp ? -1 : 1;
	return strcmp(left->value, right->value);
}

static int compare_tags(const void *a, const void *b)
{
	return strcmp(((const struct span2_tag *)a)->key, ((const struct span2_tag *)b)->key);
}

/* Of neighbours that compare equal the last stays. */
static void keep_last(GArray *array, size_t size, int (*compare)(const void *, const void *))
{
	char *all = array->data, swap[sizeof(struct span2_tag) + sizeof(struct span2_annotation)];
	guint kept = 0;

	for (guint i = 0; i < array->len; i++) {
		if (i + 1 < array->len && compare(all + i * size, all + (i + 1) * size) == 0)
			continue;
		if (kept != i) {
			memcpy(swap, all + kept * size, size);
			memcpy(all + kept * size, all + i * size, size);
			memcpy(all + i * size, swap, size);
		}
		kept++;
	}
	g_array_set_size(array, kept);
}

void span2_sort(struct span2 *span)
{
	/* GLib's array sort is a merge sort: a tag that came later stays behind one of the same key, and
	 * wins. */
	g_array_sort(span->annotations, compare_annotations);
	g_array_sort(span->tags, compare_tags);
	keep_last(span->annotations, sizeof(struct span2_annotation), compare_annotations);
	keep_last(span->tags, sizeof(struct span2_tag), compare_tags);
}

void span2_settle(struct span2 *span)
{
	span->timestamp = MAX(span->timestamp, 0);
	span->duration = MAX(span->duration, 0);
	if (span->parent_id == span->id)
		span->parent_id = 0;
	if (span->kind == SPAN2_CLIENT)
		span->shared = false;
	span2_sort(span);
}

static const struct span2_tag *find_tag(const struct span2 *of, const char *key)
{
	for (guint i = 0; i < of->tags->len; i++)
		if (strcmp(g_array_index(of->tags, struct span2_tag, i).key, key) == 0)
			return &g_array_index(of->tags, struct span2_tag, i);
	return NULL;
}

bool span2_is_added(const struct span2 *of, const struct span2_tag *tag)
{
	const struct span2_tag *error;

	if (strcmp(tag->key, ZIPKIN_STATUS_DESCRIPTION) != 0)
		return false;
	error = find_tag(of, "error");
	return error && error->value_size == tag->value_size &&
	       memcmp(error->value, tag->value, tag->value_size) == 0;
}

void span2_leave_out_added(struct span2 *span)
{
	for (guint i = 0; i < span->tags->len; i++)
		if (span2_is_added(span, &g_array_index(span->tags, struct span2_tag, i)))
			g_array_remove_index(span->tags, i--);
}

static size_t endpoint_size(const struct span2_endpoint *endpoint)
{
	if (!endpoint)
		return 0;
	return sizeof(*endpoint) + (endpoint->service ? strlen(endpoint->service) : 0);
}

size_t span2_size(const struct span2 *span)
{
	size_t size = sizeof(*span) + 2 * 64; /* the arrays' own heads */
	guint i;

	size += span->name ? strlen(span->name) : 0;
	size += endpoint_size(span->local) + endpoint_size(span->remote);
	for (i = 0; i < span->annotations->len; i++)
		size += 64 + strlen(g_array_index(span->annotations, struct span2_annotation, i).value);
	for (i = 0; i < span->tags->len; i++) {
		const struct span2_tag *tag = &g_array_index(span->tags, struct span2_tag, i);

		size += 96 + strlen(tag->key) + tag->value_size;
	}
	return size;
}

static void put_id(struct buffer *out, const char *key, uint64_t high, uint64_t id)
{
	char text[33];

	if (high)
		g_snprintf(text, sizeof(text), "%016" PRIx64 "%016" PRIx64, high, id);
	else
		g_snprintf(text, sizeof(text), "%016" PRIx64, id);
	json_key(out, key);
	json_text(out, text);
}

static void put_text(struct buffer *out, const char *key, const char *text)
{
	if (!text || !*text)
		return;
	json_key(out, key);
	json_text(out, text);
}

static void put_number(struct buffer *out, const char *key, int64_t value)
{
	if (!value)
		return;
	json_key(out, key);
	json_int(out, value);
}

static void put_endpoint(struct buffer *out, const char *key, const struct span2_endpoint *endpoint)
{
	if (!endpoint)
		return;
	json_key(out, key);
	json_open(out, '{');
	put_text(out, "serviceName", endpoint->service);
	put_text(out, "ipv4", endpoint->ipv4);
	put_text(out, "ipv6", endpoint->ipv6);
	put_number(out, "port", endpoint->port);
	json_close(out, '}');
}

static void put_annotations(struct buffer *out, const GArray *annotations)
{
	if (!annotations->len)
		return;
	json_key(out, "annotations");
	json_open(out, '[');
	for (guint i = 0; i < annotations->len; i++) {
		const struct span2_annotation *annotation =
			&g_array_index(annotations, struct span2_annotation, i);

		json_open(out, '{');
		json_key(out, "timestamp");
		json_int(out, annotation->timestamp);
		json_key(out, "value");
		json_text(out, annotation->value);
		json_close(out, '}');
	}
	json_close(out, ']');
}

static void put_tags(struct buffer *out, const GArray *tags)
{
	if (!tags->len)
		return;
	json_key(out, "tags");
	json_open(out, '{');
	for (guint i = 0; i < tags->len; i++) {
		const struct span2_tag *tag = &g_array_index(tags, struct span2_tag, i);

		json_key(out, tag->key);
		json_string(out, tag->value, tag->value_size);
	}
	json_close(out, '}');
}

static void put_flag(struct buffer *out, const char *key, bool flag)
{
	if (!flag)
		return;
	json_key(out, key);
	json_bool(out, true);
}

void span2_put_json(const struct span2 *span, struct buffer *out)
{
	char *kind = g_ascii_strup(span2_kind_name(span->kind), -1);

	json_open(out, '{');
	put_id(out, "traceId", span->trace_id_high, span->trace_id);
	if (span->parent_id)
		put_id(out, "parentId", 0, span->parent_id);
	put_id(out, "id", 0, span->id);
	put_text(out, "kind", kind);
	put_text(out, "name", span->name);
	put_number(out, "timestamp", span->timestamp);
	put_number(out, "duration", span->duration);
	put_endpoint(out, "localEndpoint", span->local);
	put_endpoint(out, "remoteEndpoint", span->remote);
	put_annotations(out, span->annotations);
	put_tags(out, span->tags);
	put_flag(out, "debug", span->debug);
	put_flag(out, "shared", span->shared);
	json_close(out, '}');
	g_free(kind);
}
