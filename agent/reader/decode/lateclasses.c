/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "reader/decode/lateclasses.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include <glib.h>

/* A packet of metadata begins with this number, then the trace's UUID. */
#define MAGIC UINT32_C(0x75d11d57)
#define UUID_SIZE 16
/* As LTTng writes them, lines of their own: where a declaration begins, and where it ends. */
#define EVENT "event {\n"
#define STREAM "stream {\n"
#define END "};\n"
#define STREAM_OF_EVENT "\tstream_id = "
#define STREAM_OF_STREAM "\tid = "

struct trace {
	GArray *streams; /* of uint64_t: those that are declared */
	GString *held;   /* event classes of others */
};

static _Thread_local GHashTable *traces; /* by UUID; NULL: metadata are not looked at */
static _Thread_local struct trace *at;   /* the text that comes next is of this one */

static void trace_destroy(void *data)
{
	struct trace *trace = data;

	g_array_unref(trace->streams);
	g_string_free(trace->held, TRUE);
	g_free(trace);
}

static guint uuid_hash(gconstpointer uuid)
{
	guint hash;

	memcpy(&hash, uuid, sizeof(hash));
	return hash;
}

static gboolean uuid_equal(gconstpointer left, gconstpointer right)
{
	return memcmp(left, right, UUID_SIZE) == 0;
}

void lateclasses_hold(void)
{
	lateclasses_forget();
	traces = g_hash_table_new_full(uuid_hash, uuid_equal, g_free, trace_destroy);
}

void lateclasses_forget(void)
{
	at = NULL;
	g_clear_pointer(&traces, g_hash_table_unref);
}

static bool is_packet(const char *data, size_t size)
{
	uint32_t magic;

	if (size < sizeof(magic) + UUID_SIZE)
		return false;
	memcpy(&magic, data, sizeof(magic));
	return magic == MAGIC;
}

static struct trace *get_trace(const char *uuid)
{
	struct trace *trace = g_hash_table_lookup(traces, uuid);

	if (!trace) {
		trace = g_new0(struct trace, 1);
		trace->streams = g_array_new(FALSE, FALSE, sizeof(uint64_t));
		trace->held = g_string_new(NULL);
		g_hash_table_insert(traces, g_memdup2(uuid, UUID_SIZE), trace);
	}
	return trace;
}

/* The text. What LTTng does not write as it does is left as it is: at worst the plugin fails on it. */

/* The text is gone through line by line, as a search in all of it may take as long as the text each time
 * (under sanitizers): there may be ten thousand declarations. */

static const char *next_line(const char *line)
{
	const char *end = strchr(line, '\n');

	return end ? end + 1 : NULL;
}

static bool begins(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

/* The next declaration that begins with the line @word, from the line @from on, and where it ends; NULL if
 * there is none. */
static const char *find(const char *from, const char *word, const char **end)
{
	const char *found = from, *last;

	while (found && !begins(found, word))
		found = next_line(found);
	last = found;
	while (last && !begins(last, END))
		last = next_line(last);
	if (!last)
		return NULL;
	*end = last + strlen(END);
	return found;
}

/* The number behind @word in a line of a declaration. */
static bool number_in(const char *declaration, const char *end, const char *word, uint64_t *number)
{
	const size_t size = strlen(word);
	char *behind;

	for (const char *line = declaration; line && line < end; line = next_line(line)) {
		if (!begins(line, word))
			continue;
		*number = g_ascii_strtoull(line + size, &behind, 10);
		return behind != line + size && *behind == ';';
	}
	return false;
}

static bool declares(const struct trace *trace, uint64_t stream)
{
	for (guint i = 0; i < trace->streams->len; i++)
		if (g_array_index(trace->streams, uint64_t, i) == stream)
			return true;
	return false;
}

/* Notes which stream classes the text declares. Returns whether there are any. */
static bool note_streams(struct trace *trace, const char *text)
{
	guint known = trace->streams->len;
	const char *end = text;
	uint64_t stream;

	for (const char *found = text; (found = find(end, STREAM, &end));)
		if (number_in(found, end, STREAM_OF_STREAM, &stream) && !declares(trace, stream))
			g_array_append_val(trace->streams, stream);
	return trace->streams->len > known;
}

/* Appends @text to @kept, without the event classes that come too early, which are held. */
static void sift(struct trace *trace, const char *text, GString *kept)
{
	const char *from = text, *end = text;
	uint64_t stream;

	for (const char *found = text; (found = find(end, EVENT, &end));) {
		if (!number_in(found, end, STREAM_OF_EVENT, &stream) || declares(trace, stream))
			continue;
		g_string_append_len(kept, from, found - from);
		g_string_append_len(trace->held, found, end - found);
		from = end;
	}
	g_string_append(kept, from);
}

/* The plugin does not take a text without a declaration: this one says nothing. */
static void fill(GString *text)
{
	static _Thread_local unsigned number;

	if (!text->str[strspn(text->str, " \t\n")])
		g_string_append_printf(text, "struct blkin_nothing_%u {};\n", number++);
}

static char *arrange(struct trace *trace, const char *text)
{
	GString *kept = g_string_new(NULL);

	if (note_streams(trace, text) && trace->held->len) {
		g_autofree char *held = g_strdup(trace->held->str);

		g_string_truncate(trace->held, 0);
		sift(trace, held, kept);
	}
	sift(trace, text, kept);
	fill(kept);
	return g_string_free(kept, FALSE);
}

/* In front of libc's */

static FILE *open_text(
	FILE *(*open)(void *, size_t, const char *), struct trace *trace, const void *data, size_t size)
{
	g_autofree char *text = g_strndup(data, size);
	g_autofree char *arranged = arrange(trace, text);
	size_t length = strlen(arranged);
	FILE *file;

	if (!strcmp(text, arranged))
		return NULL;
	file = open(NULL, length + 1, "w+");
	if (file && fwrite(arranged, 1, length, file) == length && fflush(file) == 0)
		rewind(file);
	return file;
}

FILE *fmemopen(void *data, size_t size, const char *mode)
{
	FILE *(*open)(void *data, size_t size, const char *mode);
	struct trace *trace = at;
	FILE *file = NULL;

	*(void **)&open = dlsym(RTLD_NEXT, "fmemopen");
	at = NULL;
	if (traces && data && is_packet(data, size))
		at = get_trace((const char *)data + sizeof(uint32_t));
	else if (trace && data)
		file = open_text(open, trace, data, size);
	return file ? file : open(data, size, mode);
}

/* For babeltrace2 2.1, which does not hand packets to fmemopen: the first of an answer of the relay's. It is
 * called many times a second, also while nothing happens, so it is looked up once. */
ssize_t recv(int socket, void *data, size_t size, int flags)
{
	static _Atomic(void *) found;
	ssize_t (*receive)(int socket, void *data, size_t size, int flags);
	void *next = atomic_load_explicit(&found, memory_order_relaxed);
	ssize_t received;

	if (!next) {
		next = dlsym(RTLD_NEXT, "recv");
		atomic_store_explicit(&found, next, memory_order_relaxed);
	}
	*(void **)&receive = next;
	received = receive(socket, data, size, flags);
	if (traces && received > 0 && is_packet(data, (size_t)received))
		at = get_trace((const char *)data + sizeof(uint32_t));
	return received;
}
