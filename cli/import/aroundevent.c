/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/aroundevent.h"

#include <string.h>

#include <glib.h>

#include "encode/jsonread.h"

/* Of an event with more text the rest is left out. */
#define TEXT_MAX 800

void around_event_free(void *data)
{
	struct around_event *event = data;

	g_free(event->json);
	g_free(event->text);
	g_free(event);
}

static bool is(struct text key, const char *name)
{
	return key.size == strlen(name) && !memcmp(key.data, name, key.size);
}

/* A number, whatever else it may be. */
static int64_t read_number(struct jsonread *from)
{
	struct jsonread ahead = *from;
	int64_t number = jsonread_number(&ahead);

	jsonread_skip(from);
	return ahead.failed || ahead.at != from->at ? AROUND_UNKNOWN : number;
}

/* Takes the members of an object that are numbers by these names. */
struct wanted {
	const char *name;
	int64_t *to;
};

static void read_numbers(struct jsonread *from, const struct wanted *wanted, size_t count)
{
	struct text key;

	if (!jsonread_open(from, '{'))
		return;
	while (jsonread_key(from, &key)) {
		int64_t number = read_number(from);

		for (size_t i = 0; i < count; i++)
			if (is(key, wanted[i].name) && number != AROUND_UNKNOWN)
				*wanted[i].to = number;
	}
}

/* The process's numbers are the kernel's where it knows both, and the context has the program's own. */
struct numbers {
	int64_t pid, tid, vpid, vtid, next, woken;
	bool kernel; /* it is an event of the kernel's */
};

static bool read_is_text(struct jsonread *from, const char *wanted)
{
	struct jsonread ahead = *from;
	bool same = is(jsonread_text(&ahead), wanted) && !ahead.failed;

	jsonread_skip(from);
	return same;
}

static void read_members(struct jsonread *from, struct numbers *numbers)
{
	const struct wanted process[] = {{"pid", &numbers->pid}, {"tid", &numbers->tid}};
	const struct wanted context[] = {{"vpid", &numbers->vpid}, {"vtid", &numbers->vtid}};
	const struct wanted payload[] = {{"next_tid", &numbers->next}, {"tid", &numbers->woken}};
	struct text key;

	while (jsonread_key(from, &key)) {
		if (is(key, "process"))
			read_numbers(from, process, G_N_ELEMENTS(process));
		else if (is(key, "context"))
			read_numbers(from, context, G_N_ELEMENTS(context));
		else if (is(key, "payload"))
			read_numbers(from, payload, G_N_ELEMENTS(payload));
		else if (is(key, "domain"))
			numbers->kernel = read_is_text(from, "kernel");
		else
			jsonread_skip(from);
	}
}

static int64_t either(int64_t one, int64_t other)
{
	return one != AROUND_UNKNOWN ? one : other;
}

bool around_event_read(const char *json, size_t size, struct around_moment *moment)
{
	struct numbers numbers = {AROUND_UNKNOWN, AROUND_UNKNOWN, AROUND_UNKNOWN, AROUND_UNKNOWN,
		AROUND_UNKNOWN, AROUND_UNKNOWN, false};
	g_autofree char *room = g_malloc(size + 1);
	struct jsonread from = {.at = json, .end = json + size, .room = room};

	if (!jsonread_open(&from, '{'))
		return false;
	read_members(&from, &numbers);
	moment->pid = either(numbers.vpid, numbers.pid);
	moment->tid = either(numbers.vtid, numbers.tid);
	/* sched_switch tells who comes next, and sched_wakeup and its like who is woken; what a program says
	 * so is its own affair, and its thread's number is the one that it sees itself */
	moment->kernel = numbers.kernel ? numbers.tid : AROUND_UNKNOWN;
	moment->other = numbers.kernel ? either(numbers.next, numbers.woken) : AROUND_UNKNOWN;
	return !from.failed;
}

/* Text */

static void put_members(GString *text, struct jsonread *from)
{
	struct text key;

	if (!jsonread_open(from, '{'))
		return;
	while (jsonread_key(from, &key)) {
		const char *name = key.data, *value;
		uint32_t size = key.size;

		while (from->at < from->end && g_ascii_isspace(*from->at))
			from->at++;
		value = from->at;
		jsonread_skip(from);
		if (text->len < TEXT_MAX)
			g_string_append_printf(text, "%s%.*s=%.*s", text->len ? " " : "", (int)size, name,
				(int)(from->at - value), value);
	}
}

/* Not in the middle of a character. */
static void cut(GString *text)
{
	gsize size = TEXT_MAX;

	if (text->len <= size)
		return;
	while (size && ((unsigned char)text->str[size] & 0xc0) == 0x80)
		size--;
	g_string_truncate(text, size);
	g_string_append(text, "…");
}

/* An event without a name has null there. */
static void put_name(GString *name, struct jsonread *from)
{
	struct jsonread ahead = *from;
	struct text text = jsonread_text(&ahead);

	if (!ahead.failed) {
		g_string_truncate(name, 0);
		g_string_append_len(name, text.data, text.size);
	}
	jsonread_skip(from);
}

/* "sched_switch  prev_tid=7 next_tid=0, CPU 1": the name, the payload, and where. */
static char *text_of(const char *json, size_t size)
{
	g_autofree char *room = g_malloc(size + 1);
	struct jsonread from = {.at = json, .end = json + size, .room = room};
	g_autoptr(GString) payload = g_string_new(NULL), name = g_string_new("?");
	int64_t cpu = AROUND_UNKNOWN;
	struct text key;

	if (jsonread_open(&from, '{'))
		while (jsonread_key(&from, &key)) {
			if (is(key, "event")) {
				put_name(name, &from);
			} else if (is(key, "payload")) {
				put_members(payload, &from);
			} else if (is(key, "cpu")) {
				cpu = read_number(&from);
			} else {
				jsonread_skip(&from);
			}
		}
	cut(payload);
	if (cpu == AROUND_UNKNOWN)
		return g_strdup_printf("· %s%s%s", name->str, payload->len ? "  " : "", payload->str);
	return g_strdup_printf(
		"· %s%s%s, CPU %" G_GINT64_FORMAT, name->str, payload->len ? "  " : "", payload->str, cpu);
}

struct around_event *around_event_make(const char *json, size_t size, int64_t time)
{
	struct around_event *event = g_new0(struct around_event, 1);

	event->time = time;
	event->json = g_strndup(json, size);
	event->text = text_of(json, size);
	return event;
}
