/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/metadata.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "trace/mutate.h"

/* A packet of metadata: magic, uuid, checksum, content_size and packet_size in bits, five bytes of formats.
 */
#define MAGIC 0x75d11d57u
#define HEADER 37
#define CONTENT_AT 24
#define SIZE_AT 28
#define PACKET 4096
#define TEXT_MAX (128 * 1024)

static const char *const pieces[] = {
	"string s;",
	"uint8_t _n; uint8_t _q[_n];",
	"uint64_t _n; string _q[_n];",
	"uint8_t _q[4000000];",
	"uint64_t _q[268435456];",
	"struct { } _q[1000000];",
	"integer { size = 64; align = 1; signed = 1; byte_order = be; } _b;",
	"integer { size = 63; align = 1; signed = false; } _o;",
	"integer { size = 0; align = 8; } _z;",
	"integer { size = 65; align = 8; } _z;",
	"integer { size = 8; align = 3; } _z;",
	"integer { size = 8; align = 1073741824; } _z;",
	"floating_point { exp_dig = 8; mant_dig = 24; align = 8; } _f;",
	"enum : uint8_t { A, B = 5 ... 200, C = 5 } _e;",
	"enum : uint8_t { one = 1, two } _t; variant <_t> { string one; uint64_t two; } _v;",
	"variant <id> { string compact; uint8_t extended; } _v;",
	"struct { struct { struct { string s; } a; } b; } _s;",
	"string { encoding = UTF8; } _name;",
	"string _trace_id;",
	"integer { size = 64; align = 8; signed = 1; } _span_id;",
	"};",
	"event { name = \"blkin:span\"; id = 3; stream_id = 0; fields := struct { }; };",
	"event { name = \"blkin:span2\"; id = 78; stream_id = 0; fields := struct { string _text; }; };",
	"string _text;",
	"event { name = \"blkin:span\"; id = 77; stream_id = 0; fields := struct { string _data; }; };",
	"stream { id = 1; };",
	"stream { id = 0; event.context := struct { uint8_t _c; uint8_t _q[_c]; }; };",
	"event.context := struct { integer { size = 32; align = 8; } _vpid; string _procname; };",
	"clock { name = again; freq = 0; offset = -1; };",
	"clock { name = monotonic; freq = 1; offset_s = 9223372036854775807; };",
	"typealias struct { uint8_t a; } := uint64_t;",
	"typedef uint8_t uint8_t;",
	"env { tracer_buffering_id = -1; architecture_bit_width = \"x\"; };",
	"trace { major = 1; minor = 8; byte_order = be; };",
	"callsite { name = x; func = y; };",
	"/*",
	"*/",
	"//",
	"\"",
	"\\",
	"<",
	"[",
	"{",
	"}",
	"...",
	":=",
	"align(8)",
	"\xff",
	"\n",
};

static const char *const numbers[] = {"0", "-1", "1", "7", "9", "31", "32", "63", "64", "65", "127", "4096",
	"65535", "2147483648", "4294967295", "9223372036854775807", "18446744073709551615",
	"18446744073709551616", "0x7fffffffffffffff", "-9223372036854775808", "99999999999999999999999999"};

/* Packets */

static uint32_t number_at(const GByteArray *bytes, guint at)
{
	uint32_t number;

	memcpy(&number, bytes->data + at, sizeof(number));
	return number;
}

static GString *take_text(const GByteArray *bytes)
{
	GString *text = g_string_new(NULL);
	guint at = 0;

	if (bytes->len < HEADER || number_at(bytes, 0) != MAGIC)
		return g_string_append_len(text, (const char *)bytes->data, bytes->len);
	while (at + HEADER <= bytes->len && number_at(bytes, at) == MAGIC) {
		uint32_t content = number_at(bytes, at + CONTENT_AT) / 8,
			 size = number_at(bytes, at + SIZE_AT) / 8;

		size = MIN(size, bytes->len - at);
		if (size < HEADER || content < HEADER || content > size)
			break;
		g_string_append_len(text, (const char *)bytes->data + at + HEADER, content - HEADER);
		at += size;
	}
	return text;
}

static void put_packets(const GString *text, const uint8_t *header, GByteArray *bytes)
{
	for (gsize at = 0; at < text->len; at += PACKET - HEADER) {
		guint piece = (guint)MIN(text->len - at, PACKET - HEADER), begin = bytes->len;
		uint32_t content = (piece + HEADER) * 8, size = PACKET * 8;

		g_byte_array_set_size(bytes, begin + PACKET);
		memset(bytes->data + begin, 0, PACKET);
		memcpy(bytes->data + begin, header, HEADER);
		memcpy(bytes->data + begin + CONTENT_AT, &content, sizeof(content));
		memcpy(bytes->data + begin + SIZE_AT, &size, sizeof(size));
		memcpy(bytes->data + begin + HEADER, text->str + at, piece);
	}
}

/* Text */

/* The next of a kind of character at or behind a place. */
static gsize find(const GString *text, gsize at, int (*is)(int c))
{
	while (at < text->len && !is((unsigned char)text->str[at]))
		at++;
	return at;
}

static gsize behind(const GString *text, gsize at, int (*is)(int c))
{
	while (at < text->len && is((unsigned char)text->str[at]))
		at++;
	return at;
}

static int is_word(int c)
{
	return isalnum(c) || c == '_';
}

static int is_end(int c)
{
	return c == ';' || c == '{';
}

static gsize somewhere(uint64_t *state, const GString *text)
{
	return random_below(state, (uint32_t)text->len + 1);
}

static void replace(GString *text, gsize at, gsize end, const char *by)
{
	g_string_erase(text, (gssize)at, (gssize)(end - at));
	g_string_insert(text, (gssize)at, by);
}

static void change_number(uint64_t *state, GString *text)
{
	gsize at = find(text, somewhere(state, text), isdigit), end = behind(text, at, isdigit);

	replace(text, at, end, numbers[random_below(state, G_N_ELEMENTS(numbers))]);
}

/* One word in the place of another one. */
static void change_word(uint64_t *state, GString *text)
{
	gsize from = find(text, somewhere(state, text), is_word),
	      at = find(text, somewhere(state, text), is_word);
	g_autofree char *word = g_strndup(text->str + from, behind(text, from, is_word) - from);

	replace(text, at, behind(text, at, is_word), word);
}

/* Declarations stand between semicolons and braces. */
static void insert_piece(uint64_t *state, GString *text)
{
	gsize at = find(text, somewhere(state, text), is_end);

	g_string_insert(
		text, (gssize)MIN(at + 1, text->len), pieces[random_below(state, G_N_ELEMENTS(pieces))]);
}

static void take_declaration(uint64_t *state, GString *text)
{
	gsize at = find(text, somewhere(state, text), is_end);
	gsize end = find(text, MIN(at + 1, text->len), is_end);

	replace(text, at, end, "");
}

static void repeat_part(uint64_t *state, GString *text)
{
	gsize at = find(text, somewhere(state, text), is_end), size = random_below(state, 600);
	g_autofree char *part = g_strndup(text->str + at, MIN(size, text->len - at));
	uint32_t times = random_below(state, 4) ? 1 : 1 + random_below(state, 100);

	for (uint32_t i = 0; i < times && text->len < TEXT_MAX; i++)
		g_string_insert(text, (gssize)at, part);
}

/* Deeper than anybody would write. */
static void nest(uint64_t *state, GString *text)
{
	uint32_t depth = 1 + random_below(state, random_below(state, 8) ? 20 : 2000);
	gsize at = MIN(find(text, somewhere(state, text), is_end) + 1, text->len);
	GString *nested = g_string_new(NULL);

	for (uint32_t i = 0; i < depth; i++)
		g_string_append(nested, "struct { ");
	g_string_append(nested, "uint8_t _x;");
	for (uint32_t i = 0; i < depth; i++)
		g_string_append_printf(nested, "} _d%u;", i);
	g_string_insert(text, (gssize)at, nested->str);
	g_string_free(nested, TRUE);
}

void metadata_harm(uint64_t *state, GByteArray *bytes)
{
	static void (*const harms[])(uint64_t * state, GString * text) = {change_number, change_number,
		change_word, insert_piece, insert_piece, insert_piece, take_declaration, repeat_part, nest};
	bool packets = bytes->len >= HEADER && number_at(bytes, 0) == MAGIC && random_below(state, 4);
	GString *text = take_text(bytes);
	uint8_t header[HEADER];

	if (packets)
		memcpy(header, bytes->data, HEADER);
	harms[random_below(state, G_N_ELEMENTS(harms))](state, text);
	g_byte_array_set_size(bytes, 0);
	if (packets)
		put_packets(text, header, bytes);
	else
		g_byte_array_append(bytes, (const guint8 *)text->str, (guint)text->len);
	g_string_free(text, TRUE);
}
