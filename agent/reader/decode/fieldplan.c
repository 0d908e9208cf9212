/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/decode/fieldplan.h"

#include <string.h>

/* What the parts of one scope's plan share. */
struct making {
	GStringChunk *texts;
	unsigned depth;
};

static const struct {
	bt_field_class_type type;
	enum field_kind kind;
} kinds[] = {
	/* enumerations are integers, too */
	{BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION, FIELD_UNSIGNED_ENUM},
	{BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION, FIELD_SIGNED_ENUM},
	{BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER, FIELD_UNSIGNED},
	{BT_FIELD_CLASS_TYPE_SIGNED_INTEGER, FIELD_SIGNED},
	{BT_FIELD_CLASS_TYPE_BOOL, FIELD_BOOL},
	{BT_FIELD_CLASS_TYPE_BIT_ARRAY, FIELD_BITS},
	{BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL, FIELD_SINGLE},
	{BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL, FIELD_DOUBLE},
	{BT_FIELD_CLASS_TYPE_STRING, FIELD_STRING},
	{BT_FIELD_CLASS_TYPE_STRUCTURE, FIELD_STRUCTURE},
	{BT_FIELD_CLASS_TYPE_ARRAY, FIELD_ARRAY},
	{BT_FIELD_CLASS_TYPE_OPTION, FIELD_OPTION},
	{BT_FIELD_CLASS_TYPE_VARIANT, FIELD_VARIANT},
};

static enum field_kind kind_of(const bt_field_class *field_class)
{
	bt_field_class_type type = bt_field_class_get_type(field_class);

	for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (bt_field_class_type_is(type, kinds[i].type))
			return kinds[i].kind;
	return FIELD_CUT;
}

/* Names */

struct text field_plan_text(GStringChunk *texts, const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);
	size_t size = strlen(valid);

	return (struct text){g_string_chunk_insert_len(texts, valid, (gssize)size), (uint32_t)size};
}

static struct text pack_name(GStringChunk *texts, struct text name)
{
	struct buffer packed = {0};
	struct text kept;

	event_put_text(&packed, name.data, name.size);
	kept = (struct text){g_string_chunk_insert_len(texts, (const char *)packed.data, (gssize)packed.size),
		(uint32_t)packed.size};
	buffer_free(&packed);
	return kept;
}

/* Two names may become one when they are repaired, and two contexts may have the same. */
static void name_part(struct making *making, struct field_plan *plan, const char *name, GHashTable *names)
{
	g_autofree char *differs = g_utf8_make_valid(name, -1);

	for (unsigned n = 2; g_hash_table_contains(names, differs); n++) {
		g_autofree char *valid = g_utf8_make_valid(name, -1);

		g_free(differs);
		differs = g_strdup_printf("%s#%u", valid, n);
	}
	g_hash_table_add(names, g_strdup(differs));
	plan->name = field_plan_text(making->texts, differs);
	plan->packed = pack_name(making->texts, plan->name);
}

/* Parts */

static struct field_plan plan_field(struct making *making, const bt_field_class *field_class);

static void make_parts(struct field_plan *plan, uint64_t count)
{
	plan->count = (uint32_t)count;
	plan->parts = g_new0(struct field_plan, plan->count);
}

static void plan_members(
	struct making *making, struct field_plan *plan, const bt_field_class *field_class, GHashTable *names)
{
	make_parts(plan, bt_field_class_structure_get_member_count(field_class));
	for (uint32_t i = 0; i < plan->count; i++) {
		const bt_field_class_structure_member *member =
			bt_field_class_structure_borrow_member_by_index_const(field_class, i);

		plan->parts[i] =
			plan_field(making, bt_field_class_structure_member_borrow_field_class_const(member));
		name_part(making, &plan->parts[i], bt_field_class_structure_member_get_name(member), names);
	}
}

/* One without a name has its number for a name. */
static void plan_options(
	struct making *making, struct field_plan *plan, const bt_field_class *field_class, GHashTable *names)
{
	make_parts(plan, bt_field_class_variant_get_option_count(field_class));
	for (uint32_t i = 0; i < plan->count; i++) {
		const bt_field_class_variant_option *option =
			bt_field_class_variant_borrow_option_by_index_const(field_class, i);
		const char *name = bt_field_class_variant_option_get_name(option);
		g_autofree char *number = g_strdup_printf("%u", i);

		plan->parts[i] =
			plan_field(making, bt_field_class_variant_option_borrow_field_class_const(option));
		name_part(making, &plan->parts[i], name ? name : number, names);
	}
}

static void plan_one(struct making *making, struct field_plan *plan, const bt_field_class *part)
{
	make_parts(plan, 1);
	plan->parts[0] = plan_field(making, part);
}

static void plan_parts(struct making *making, struct field_plan *plan, const bt_field_class *field_class)
{
	GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	if (plan->kind == FIELD_STRUCTURE)
		plan_members(making, plan, field_class, names);
	else if (plan->kind == FIELD_VARIANT)
		plan_options(making, plan, field_class, names);
	else if (plan->kind == FIELD_ARRAY)
		plan_one(making, plan, bt_field_class_array_borrow_element_field_class_const(field_class));
	else
		plan_one(making, plan, bt_field_class_option_borrow_field_class_const(field_class));
	g_hash_table_unref(names);
}

/* An enumeration's number is none of those: its labels are what people read. */
static uint8_t hex_bits(enum field_kind kind, const bt_field_class *field_class)
{
	if ((kind != FIELD_UNSIGNED && kind != FIELD_SIGNED) ||
		bt_field_class_integer_get_preferred_display_base(field_class) !=
			BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL)
		return 0;
	return (uint8_t)bt_field_class_integer_get_field_value_range(field_class);
}

static struct field_plan plan_field(struct making *making, const bt_field_class *field_class)
{
	struct field_plan plan = {.kind = kind_of(field_class)};

	plan.hex_bits = hex_bits(plan.kind, field_class);
	if (plan.kind < FIELD_STRUCTURE || plan.kind == FIELD_CUT)
		return plan;
	if (making->depth == EVENT_DEPTH_MAX) {
		plan.kind = FIELD_CUT;
		return plan;
	}
	making->depth++;
	plan_parts(making, &plan, field_class);
	making->depth--;
	return plan;
}

struct field_plan field_plan_scope(GStringChunk *texts, const bt_field_class *field_class, GHashTable *names)
{
	struct making making = {texts, 1};
	struct field_plan plan = {.kind = FIELD_STRUCTURE};

	if (field_class)
		plan_members(&making, &plan, field_class, names);
	return plan;
}

void field_plan_free(struct field_plan *plan)
{
	for (uint32_t i = 0; i < plan->count; i++)
		field_plan_free(&plan->parts[i]);
	g_free(plan->parts);
}
