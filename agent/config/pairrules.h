/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `spans` in [events]: which two events of a thread make a span, `ENTER/EXIT by vtid` of programs, and
 * `ENTER/EXIT by tid` of the kernel. A `*` in both names stands for the same text.
 */
#ifndef CONFIG_PAIRRULES_H
#define CONFIG_PAIRRULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <glib.h>

#include "config/globs.h"

#define PAIR_RULES_MAX 32

struct pair_rule {
	bool kernel;           /* `by tid`, and otherwise `by vtid` */
	char enter[GLOB_SIZE]; /* with its provider, if it is of programs; and so is */
	char exit[GLOB_SIZE];
};

struct pair_rules {
	size_t count;
	struct pair_rule of[PAIR_RULES_MAX];
};

/* Reads the key's value; "" has no rules. Returns 0, or -1 with @error saying what is wrong, as the end of a
 * sentence. */
int pair_rules_parse(struct pair_rules *rules, const char *text, char *error, size_t size);

/* Whether there is a rule of this kind: for the kernel's events, or those of programs. */
bool pair_rules_have(const struct pair_rules *rules, bool kernel);

/* What an event is by one of the rules. */
struct pair_half {
	bool exits;           /* it ends what others have begun, whichever of them was the last */
	char *exit;           /* the name of the event that ends it: of both halves */
	char *pair;           /* both names, "ENTER/EXIT"; NULL if it exits, and so is */
	char *name;           /* the span's */
	uint64_t number;      /* of `exit`: pair_name_number; */
	uint64_t pair_number; /* and of `pair` */
};

/* The number of a name, the same everywhere. */
uint64_t pair_name_number(const char *name);

/*
 * What the event @name is by all rules, as a list of struct pair_half, to be unreffed: first the end of what
 * was begun, then the beginning of something else. Where a rule without `*` has it begin something, others do
 * not. NULL: nothing.
 */
GPtrArray *pair_rules_match(const struct pair_rules *rules, const char *name, bool kernel);

#endif
