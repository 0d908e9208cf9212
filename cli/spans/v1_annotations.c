/* SPDX-License-Identifier: BSD-2-Clause */
#include "spans/v1_annotations.h"

#include <string.h>

#include <arpa/inet.h>

char *v1_copy_name(struct text name)
{
	size_t size = name.size ? strnlen(name.data, name.size) : 0;
	g_autofree char *valid = size ? g_utf8_make_valid(name.data, (gssize)size) : NULL;

	return valid ? g_utf8_strdown(valid, -1) : NULL;
}

/* The host is known unless there is nothing in it. */
static void set_host(struct v1_annotation *note, const struct zipkinwire_host *host)
{
	uint32_t ipv4;

	if (!host)
		return;
	ipv4 = htonl(host->ipv4);
	note->host.service = v1_copy_name(host->service);
	note->host.port = host->port;
	span2_endpoint_address(&note->host, &ipv4, 4);
	if (host->ipv6.size == 16)
		span2_endpoint_address(&note->host, host->ipv6.data, host->ipv6.size);
	note->has_host = span2_endpoint_is_known(&note->host);
}

static void clear_note(void *data)
{
	struct v1_annotation *note = data;

	g_free(note->text);
	g_free(note->host.service);
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

static struct v1_annotation *add_note(GArray *notes, struct text text)
{
	struct v1_annotation note = {.order = notes->len, .text = g_strndup(text.data, text.size)};

	g_array_append_val(notes, note);
	return &g_array_index(notes, struct v1_annotation, note.order);
}

static void take_annotation(void *data, const struct zipkinwire_annotation *annotation)
{
	const struct v1_span *v1 = data;
	struct v1_annotation *note;

	if (!annotation->time || !annotation->value.data)
		return;
	note = add_note(v1->annotations, annotation->value);
	note->timestamp = annotation->time;
	set_host(note, annotation->host);
}

bool v1_is_address_key(const char *key)
{
	return strcmp(key, "ca") == 0 || strcmp(key, "sa") == 0 || strcmp(key, "ma") == 0;
}

static bool is_address(const struct zipkinwire_tag *tag)
{
	return tag->type == ZIPKINWIRE_BOOL && tag->value.size == 1 && *tag->value.data == 1 &&
	       (text_is(tag->key, "ca") || text_is(tag->key, "sa") || text_is(tag->key, "ma"));
}

static void take_tag(void *data, const struct zipkinwire_tag *tag)
{
	const struct v1_span *v1 = data;
	struct v1_annotation *note;

	if (!tag->key.data || !tag->value.data || (tag->type != ZIPKINWIRE_STRING && !is_address(tag)))
		return;
	note = add_note(v1->binaries, tag->key);
	note->value = tag->value;
	set_host(note, tag->host);
}

static void begin(struct v1_span *v1)
{
	v1->annotations = new_notes();
	v1->binaries = new_notes();
}

static void sort(struct v1_span *v1)
{
	g_array_sort(v1->annotations, compare_notes);
	g_array_sort(v1->binaries, compare_notes);
}

bool v1_read(struct v1_span *v1, const void *bytes, size_t size)
{
	const struct zipkinwire_sink sink = {take_annotation, take_tag, v1};
	bool good;

	begin(v1);
	good = zipkinwire_read(&v1->fields, bytes, size, &sink) > 0;
	sort(v1);
	return good;
}

static struct zipkinwire_host host_of(const struct endpoint *local)
{
	struct zipkinwire_host host = {.service = local->service, .port = local->port};

	if (local->address_size == 16) {
		host.ipv6 = (struct text){(const char *)local->address, 16};
	} else if (local->address_size == 4) {
		memcpy(&host.ipv4, local->address, 4);
		host.ipv4 = ntohl(host.ipv4);
	}
	return host;
}

/* A server's half of a shared span has its own annotations' times. */
static struct zipkinwire_span fields_of(const struct span *span)
{
	return (struct zipkinwire_span){.trace_id_high = span->trace_id_high,
		.trace_id = span->trace_id,
		.id = span->id,
		.parent_id = span->parent_id,
		.name = span->name,
		.timestamp = span->shared ? 0 : span_timestamp_us(span),
		.duration = span->shared ? 0 : span_duration_us(span),
		.debug = span->debug};
}

void v1_of_classic(struct v1_span *v1, const struct span *span)
{
	const struct zipkinwire_host host = host_of(&span->local);
	const struct zipkinwire_tag place = {{"lc", 2}, {"", 0}, ZIPKINWIRE_STRING, &host};

	v1->fields = fields_of(span);
	begin(v1);
	for (size_t i = 0; i < span->annotation_count; i++)
		take_annotation(v1, &(struct zipkinwire_annotation){span->annotations[i].time / 1000,
					    span->annotations[i].value, &host});
	for (size_t i = 0; i < span->tag_count; i++)
		take_tag(v1, &(struct zipkinwire_tag){
				     span->tags[i].key, span->tags[i].value, ZIPKINWIRE_STRING, NULL});
	take_tag(v1, &place);
	sort(v1);
}

void v1_clear(struct v1_span *v1)
{
	g_array_unref(v1->annotations);
	g_array_unref(v1->binaries);
}
