/* SPDX-License-Identifier: BSD-2-Clause */
/* Fields, and what is expected of each: eventmaker.h. */
#include <math.h>
#include <string.h>

#include "eventmakerparts.h"

/* What is expected */

/* The length of the character at @text, or 0. */
static size_t character(const char *text, size_t size)
{
	for (size_t n = 1; n <= 4 && n <= size; n++)
		if (g_utf8_validate_len(text, n, NULL) || (!*text && n == 1))
			return n;
	return 0;
}

/* Characters that control who reads them are escaped, as UTF-16 has them, but not the joiners. */
static bool is_escaped(gunichar c)
{
	GUnicodeType type = g_unichar_type(c);

	return c >= 0x80 && c != 0x200c && c != 0x200d &&
	       (type == G_UNICODE_CONTROL || type == G_UNICODE_FORMAT || type == G_UNICODE_LINE_SEPARATOR ||
		       type == G_UNICODE_PARAGRAPH_SEPARATOR);
}

static void put_escaped(GString *out, const char *text, size_t size)
{
	g_autofree gunichar2 *codes = g_utf8_to_utf16(text, (glong)size, NULL, NULL, NULL);

	for (const gunichar2 *code = codes; *code; code++)
		g_string_append_printf(out, "\\u%04x", *code);
}

void event_maker_put_text(GString *out, const char *text, size_t size)
{
	g_string_append_c(out, '"');
	while (size) {
		size_t step = character(text, size);

		if (!step)
			g_string_append(out, "\xef\xbf\xbd");
		else if (*text == '"' || *text == '\\')
			g_string_append_printf(out, "\\%c", *text);
		else if (*text == '\n' || *text == '\t' || *text == '\r')
			g_string_append(out, *text == '\n' ? "\\n" : *text == '\t' ? "\\t" : "\\r");
		else if ((unsigned char)*text < 0x20)
			g_string_append_printf(out, "\\u%04x", *text);
		else if (is_escaped(g_utf8_get_char(text)))
			put_escaped(out, text, step);
		else
			g_string_append_len(out, text, (gssize)step);
		step = MAX(step, 1);
		text += step;
		size -= step;
	}
	g_string_append_c(out, '"');
}

static void put_both(struct event_maker *maker, const char *text)
{
	g_string_append(maker->payload, text);
	g_string_append(maker->body, text);
}

static void put_key(struct event_maker *maker, const char *name)
{
	event_maker_put_text(maker->payload, name, strlen(name));
	event_maker_put_text(maker->body, name, strlen(name));
	put_both(maker, ":");
}

static void put_real(struct event_maker *maker, double value)
{
	char text[G_ASCII_DTOSTR_BUF_SIZE];

	if (!isfinite(value)) {
		put_both(maker, isnan(value) ? "\"NaN\"" : value < 0 ? "\"-Infinity\"" : "\"Infinity\"");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		g_autofree char *format = g_strdup_printf("%%.%dg", digits);

		g_ascii_formatd(text, sizeof(text), format, value);
		if (g_ascii_strtod(text, NULL) == value)
			break;
	}
	put_both(maker, text);
	if (!strchr(text, '.') && !strchr(text, 'e'))
		put_both(maker, ".0");
}

/* OTLP has signed numbers only. */
static void put_unsigned(struct event_maker *maker, uint64_t value)
{
	g_string_append_printf(maker->payload, "%" G_GUINT64_FORMAT, value);
	g_string_append_printf(
		maker->body, value > INT64_MAX ? "\"%" G_GUINT64_FORMAT "\"" : "%" G_GUINT64_FORMAT, value);
}

static void put_signed(struct event_maker *maker, int64_t value)
{
	g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, value);

	put_both(maker, text);
}

static void put_bytes(struct event_maker *maker, const char *place, const char *text, size_t size)
{
	g_autofree char *base64 = g_base64_encode((const guchar *)text, size);

	g_string_append(maker->bytes, maker->bytes->len ? "," : "");
	event_maker_put_text(maker->bytes, place, strlen(place));
	g_string_append_printf(maker->bytes, ":\"%s\"", base64);
	g_string_append_printf(maker->body, "{\"bytes\":\"%s\"}", base64);
}

/* Fields */

static char *below(const char *place, const char *name)
{
	GString *made = g_string_new(place);

	g_string_append_c(made, '/');
	while (*name) {
		size_t step = character(name, strlen(name));

		if (*name == '~' || *name == '/')
			g_string_append(made, *name == '~' ? "~0" : "~1");
		else if (!step)
			g_string_append(made, "\xef\xbf\xbd");
		else
			g_string_append_len(made, name, (gssize)step);
		name += MAX(step, 1);
	}
	return g_string_free(made, FALSE);
}

static void fill_string(struct event_maker *maker, bt_field *field, const char *place)
{
	char text[256];
	size_t size = event_maker_byte(maker) % sizeof(text), used = 0;

	for (size_t i = 0; i < size; i++) {
		text[used] = (char)event_maker_byte(maker);
		used += text[used] != '\0';
	}
	bt_field_string_clear(field);
	bt_field_string_append_with_length(field, text, used);
	event_maker_put_text(maker->payload, text, used);
	if (g_utf8_validate_len(text, used, NULL))
		event_maker_put_text(maker->body, text, used);
	else
		put_bytes(maker, place, text, used);
}

static void fill_enumeration(struct event_maker *maker, bt_field *field, bool is_signed)
{
	uint64_t value = event_maker_word(maker);

	put_both(maker, "{\"value\":");
	if (is_signed) {
		bt_field_integer_signed_set_value(field, (int64_t)value);
		put_signed(maker, (int64_t)value);
		put_both(
			maker, (int64_t)value < 0 ? ",\"labels\":[\"below \\\"0\\\"\"]}" : ",\"labels\":[]}");
		return;
	}
	bt_field_integer_unsigned_set_value(field, value);
	put_unsigned(maker, value);
	put_both(maker, ",\"labels\":[");
	put_both(maker, value <= 9 ? "\"low\"" : "");
	put_both(maker, value <= 9 && value >= 5 ? "," : "");
	put_both(maker, value >= 5 && value <= 1000 ? "\"w\xc3\xaf"
						      "de\""
						    : "");
	put_both(maker, "]}");
}

static void fill_real(struct event_maker *maker, bt_field *field, bool single)
{
	uint64_t bits = event_maker_word(maker);
	uint32_t few = (uint32_t)bits;
	double value;
	float small;

	memcpy(&value, &bits, sizeof(value));
	memcpy(&small, &few, sizeof(small));
	if (single)
		bt_field_real_single_precision_set_value(field, small);
	else
		bt_field_real_double_precision_set_value(field, value);
	put_real(maker, single ? (double)small : value);
}

static void fill_structure(struct event_maker *maker, bt_field *field, const char *place)
{
	const bt_field_class *of = bt_field_borrow_class_const(field);
	uint64_t count = bt_field_class_structure_get_member_count(of);

	put_both(maker, "{");
	for (uint64_t i = 0; i < count; i++) {
		const char *name = bt_field_class_structure_member_get_name(
			bt_field_class_structure_borrow_member_by_index_const(of, i));
		g_autofree char *here = below(place, name);

		put_both(maker, i ? "," : "");
		put_key(maker, name);
		event_maker_fill(maker, bt_field_structure_borrow_member_field_by_index(field, i), here);
	}
	put_both(maker, "}");
}

static void fill_array(struct event_maker *maker, bt_field *field, const char *place, bool dynamic)
{
	if (dynamic)
		bt_field_array_dynamic_set_length(field, event_maker_byte(maker) % 6);
	put_both(maker, "[");
	for (uint64_t i = 0; i < bt_field_array_get_length(field); i++) {
		g_autofree char *here = g_strdup_printf("%s/%" G_GUINT64_FORMAT, place, i);

		put_both(maker, i ? "," : "");
		event_maker_fill(maker, bt_field_array_borrow_element_field_by_index(field, i), here);
	}
	put_both(maker, "]");
}

static void fill_option(struct event_maker *maker, bt_field *field, const char *place)
{
	bool has = event_maker_byte(maker) % 2;

	bt_field_option_set_has_field(field, has);
	if (has)
		event_maker_fill(maker, bt_field_option_borrow_field(field), place);
	else
		put_both(maker, "null");
}

static void fill_variant(struct event_maker *maker, bt_field *field, const char *place)
{
	const bt_field_class *of = bt_field_borrow_class_const(field);
	uint64_t choice = event_maker_byte(maker) % bt_field_class_variant_get_option_count(of);
	const char *name = bt_field_class_variant_option_get_name(
		bt_field_class_variant_borrow_option_by_index_const(of, choice));
	g_autofree char *here = below(place, name);

	bt_field_variant_select_option_by_index(field, choice);
	put_both(maker, "{");
	put_key(maker, name);
	event_maker_fill(maker, bt_field_variant_borrow_selected_option_field(field), here);
	put_both(maker, "}");
}

static void fill_number(struct event_maker *maker, bt_field *field, bt_field_class_type type)
{
	uint64_t value = event_maker_word(maker);

	if (type == BT_FIELD_CLASS_TYPE_BOOL) {
		bt_field_bool_set_value(field, value & 1);
		put_both(maker, value & 1 ? "true" : "false");
	} else if (type == BT_FIELD_CLASS_TYPE_BIT_ARRAY) {
		bt_field_bit_array_set_value_as_integer(field, value);
		put_unsigned(maker, value);
	} else if (type == BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER) {
		bt_field_integer_unsigned_set_value(field, value);
		put_unsigned(maker, value);
	} else {
		bt_field_integer_signed_set_value(field, (int64_t)value);
		put_signed(maker, (int64_t)value);
	}
}

void event_maker_fill(struct event_maker *maker, bt_field *field, const char *place)
{
	bt_field_class_type type = bt_field_get_class_type(field);

	if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ENUMERATION))
		fill_enumeration(maker, field, type == BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_REAL))
		fill_real(maker, field, type == BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL);
	else if (type == BT_FIELD_CLASS_TYPE_STRING)
		fill_string(maker, field, place);
	else if (type == BT_FIELD_CLASS_TYPE_STRUCTURE)
		fill_structure(maker, field, place);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY))
		fill_array(
			maker, field, place, bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY));
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
		fill_option(maker, field, place);
	else if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_VARIANT))
		fill_variant(maker, field, place);
	else
		fill_number(maker, field, type);
}
