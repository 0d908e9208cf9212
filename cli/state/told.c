/* SPDX-License-Identifier: BSD-2-Clause */
#include "state/told.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/human.h"
#include "base/sanitize.h"
#include "encode/jsonread.h"

/* No time is longer: some thirty years. */
#define SECONDS_MAX 1e9

static struct jsonread reading(struct told value)
{
	return (struct jsonread){.at = value.at, .end = value.end, .room = value.of->room};
}

/* To where a value begins: there may be blanks in front of it. */
static void skip_blanks(struct jsonread *from)
{
	while (from->at < from->end && strchr(" \t\r\n", *from->at))
		from->at++;
}

static struct told nothing(struct told in)
{
	in.of->wrong = true;
	return (struct told){in.end, in.end, in.of};
}

struct told told_open(struct telling *telling, const char *json)
{
	size_t size = strlen(json);
	struct told all = {json, json + size, telling};
	struct jsonread from;

	*telling = (struct telling){g_malloc(size + 1), g_string_chunk_new(4096), false};
	from = reading(all);
	jsonread_skip(&from);
	return jsonread_is_over(&from) ? all : nothing(all);
}

bool told_close(struct telling *telling)
{
	g_free(telling->room);
	g_string_chunk_free(telling->texts);
	return !telling->wrong;
}

/* Looking up */

static struct told member(struct told in, struct text name)
{
	struct jsonread from = reading(in);
	struct text key;

	jsonread_open(&from, '{');
	while (!from.failed && jsonread_key(&from, &key)) {
		const char *at;

		skip_blanks(&from);
		at = from.at;
		jsonread_skip(&from);
		if (text_is_equal(key, name))
			return (struct told){at, from.at, in.of};
	}
	return nothing(in);
}

struct told told_at(struct told in, const char *path)
{
	size_t size = strcspn(path, ".");
	struct told first = {0};

	if (*path != '0')
		in = member(in, (struct text){path, (uint32_t)size});
	else
		in = told_next(in, &first) ? first : nothing(in);
	return path[size] ? told_at(in, path + size + 1) : in;
}

bool told_next(struct told list, struct told *element)
{
	struct jsonread from = reading(list);

	if (element->at) {
		from.at = element->end;
		from.inside = true;
	} else {
		jsonread_open(&from, '[');
	}
	if (from.failed || !jsonread_element(&from)) {
		list.of->wrong |= from.failed;
		return false;
	}
	skip_blanks(&from);
	*element = (struct told){from.at, NULL, list.of};
	jsonread_skip(&from);
	element->end = from.at;
	return true;
}

/* Notes whether the value was one of that type, and all of it was read. */
static bool is_read(struct told value, const struct jsonread *from)
{
	bool is = !from->failed && from->at == value.end && value.at < value.end;

	value.of->wrong |= !is;
	return is;
}

static int64_t number_of(struct told value)
{
	struct jsonread from = reading(value);
	int64_t number = jsonread_number(&from);

	return is_read(value, &from) ? number : 0;
}

/* A number; of a list how many there are, of an object of numbers their sum. */
static int64_t amount_of(struct told value)
{
	struct jsonread from = reading(value);
	struct told one = {0};
	struct text key;
	uint64_t sum = 0;

	if (*value.at == '[') {
		while (told_next(value, &one))
			sum++;
	} else if (*value.at == '{') {
		jsonread_open(&from, '{');
		while (!from.failed && jsonread_key(&from, &key))
			sum += (uint64_t)jsonread_number(&from);
		is_read(value, &from);
	} else {
		return number_of(value);
	}
	return (int64_t)sum;
}

static double real_of(struct told value)
{
	struct jsonread from = reading(value);
	char *end;
	double number = g_ascii_strtod(value.at, &end);

	from.at = end;
	return is_read(value, &from) ? number : 0;
}

static char *text_of(struct told value)
{
	struct jsonread from = reading(value);
	struct text text = jsonread_text(&from);

	is_read(value, &from);
	return g_string_chunk_insert_len(value.of->texts, text.data, (gssize)text.size);
}

bool told_is_null(struct told in, const char *path)
{
	struct jsonread from = reading(told_at(in, path));

	return jsonread_is_null(&from);
}

bool told_has(struct told in, const char *path)
{
	struct told value = told_at(in, path);
	size_t size = (size_t)(value.end - value.at);
	static const char *const none[] = {"null", "false", "0", "\"\""};

	for (size_t i = 0; i < G_N_ELEMENTS(none); i++)
		if (strlen(none[i]) == size && !memcmp(none[i], value.at, size))
			return false;
	return size > 0;
}

int64_t told_number(struct told in, const char *path)
{
	return amount_of(told_at(in, path));
}

double told_real(struct told in, const char *path)
{
	return real_of(told_at(in, path));
}

const char *told_text(struct told in, const char *path)
{
	return text_of(told_at(in, path));
}

bool told_is(struct told in, const char *path, const char *text)
{
	return !strcmp(told_text(in, path), text);
}

/* Telling: each puts a value in one form */

static void put_size(struct buffer *out, struct told value)
{
	char text[HUMAN_MAX];

	buffer_printf(out, "%s", human_size(text, (uint64_t)number_of(value)));
}

static int64_t ns_of(struct told value)
{
	return (int64_t)(CLAMP(real_of(value), 0, SECONDS_MAX) * NS_PER_SECOND + 0.5);
}

static void put_time(struct buffer *out, struct told value)
{
	char text[HUMAN_MAX];

	buffer_printf(out, "%s", human_time(text, ns_of(value)));
}

static void put_age(struct buffer *out, struct told value)
{
	int64_t ns = ns_of(value);
	char text[HUMAN_MAX];

	buffer_printf(out, "%s", human_time(text, ns - ns % NS_PER_SECOND));
}

static void put_rate(struct buffer *out, struct told value)
{
	double rate = real_of(value);

	buffer_printf(out, "%.*f", rate > 0 && rate < 10 ? 1 : 0, rate);
}

static void put_s(struct buffer *out, struct told value)
{
	buffer_printf(out, "%s", amount_of(value) == 1 ? "" : "s");
}

/* A number or a text; see amount_of. */
static void put_plain(struct buffer *out, struct told value)
{
	char *text;

	if (*value.at != '"') {
		buffer_printf(out, "%" PRId64, amount_of(value));
		return;
	}
	text = text_of(value);
	words_clean(text, strlen(text));
	buffer_printf(out, "%s", text);
}

static const struct {
	const char *as;
	void (*put)(struct buffer *out, struct told value);
} forms[] = {{"size", put_size}, {"time", put_time}, {"age", put_age}, {"rate", put_rate}, {"s", put_s},
	{"", put_plain}};

static void put_value(struct buffer *out, struct told in, const char *path, const char *as)
{
	for (size_t i = 0; i < G_N_ELEMENTS(forms); i++)
		if (!strcmp(forms[i].as, as))
			forms[i].put(out, told_at(in, path));
}

void told_put(struct buffer *out, struct told in, const char *format)
{
	size_t size = strcspn(format, "{");

	buffer_put(out, format, size);
	while (format[size]) {
		size_t length = strcspn(format + size + 1, "}");
		g_autofree char *path = g_strndup(format + size + 1, length);
		char *as = path + strcspn(path, "|");

		if (*as)
			*as++ = '\0';
		put_value(out, in, path, as);
		format += size + length + 2;
		size = strcspn(format, "{");
		buffer_put(out, format, size);
	}
}

void told_put_if(struct buffer *out, struct told in, const char *path, const char *format)
{
	if (told_has(in, path))
		told_put(out, in, format);
}

void told_put_by(struct buffer *out, struct told in, const char *path, const struct told_words *words)
{
	for (; words->is; words++)
		if (told_is(in, path, words->is))
			told_put(out, in, words->format);
}
