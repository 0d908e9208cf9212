/* SPDX-License-Identifier: BSD-2-Clause */
#include "config/tagrules.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "config/globs.h"

struct rename {
	struct text old, new;
};

struct tagrules {
	char **drop, **redact, **renames; /* `OLD:NEW`, from which `rename` borrows */
	struct rename rename[TAGRULES_MAX];
	size_t rename_count;
	struct tags added; /* which are spared */
};

static struct text text_of(const char *word)
{
	return (struct text){word, (uint32_t)strlen(word)};
}

/* Goes back to the last `*` only, which is enough, so it takes no more than the product of the sizes. */
static bool matches(const char *glob, struct text key)
{
	const char *star = NULL;
	uint32_t at = 0, from = 0;

	while (at < key.size) {
		if (*glob == '*') {
			star = ++glob;
			from = at;
		} else if (*glob && *glob == key.data[at]) {
			glob++;
			at++;
		} else if (star) {
			glob = star;
			at = ++from;
		} else {
			return false;
		}
	}
	return !glob[strspn(glob, "*")];
}

static const char *find_glob(char *const *globs, struct text key)
{
	for (; *globs; globs++)
		if (matches(*globs, key))
			return *globs;
	return NULL;
}

/* Checking */

/* Of a glob, and of a key that is to be renamed. */
static const char *fault_of_key(const char *key)
{
	if (strlen(key) > TAGRULES_GLOB_MAX)
		return "it has more than 255 characters";
	for (; *key; key++)
		if ((unsigned char)*key <= ' ' || *key == 0x7f || strchr("\"'`\\;=", *key))
			return "a key here has no blanks, quotes, backslashes, semicolons and `=`; several "
			       "are "
			       "separated by commas";
	return NULL;
}

static const char *fault_of_glob(const char *glob)
{
	if (strpbrk(glob, "?[]"))
		return "the only wildcard is `*`, which stands for any characters";
	if (strchr(glob, ':'))
		return "it is a key, or a glob of keys; OLD:NEW is for `rename-tags`";
	return fault_of_key(glob);
}

static int say_fault(const char *at, const char *fault, char *error, size_t size)
{
	snprintf(error, size, "is not valid at `%.80s`: %s", at, fault);
	return -1;
}

/* Checks that there is something between all commas, no more than may be, and nothing twice. */
static int check_list(char *const *list, const char *what, char *error, size_t size)
{
	if (g_strv_length((char **)list) > TAGRULES_MAX) {
		snprintf(error, size, "is not valid: there can be %d at most", TAGRULES_MAX);
		return -1;
	}
	for (size_t i = 0; list[i]; i++) {
		if (!*list[i]) {
			snprintf(error, size, "is not valid: a comma has no %s before or after it", what);
			return -1;
		}
		if (globs_have(list, i, list[i]))
			return say_fault(list[i], "it is there twice", error, size);
	}
	return 0;
}

/* Checks the list, and each by itself. */
static int check_each(
	char *const *list, const char *what, const char *(*fault_of)(const char *), char *error, size_t size)
{
	if (check_list(list, what, error, size) != 0)
		return -1;
	for (; *list; list++)
		if (fault_of(*list))
			return say_fault(*list, fault_of(*list), error, size);
	return 0;
}

int tagrules_check_globs(const char *text, char *error, size_t size)
{
	g_auto(GStrv) list = globs_split(text);

	return check_each(list, "glob", fault_of_glob, error, size);
}

static struct rename split(const char *text)
{
	const char *colon = strchr(text, ':');

	return (struct rename){{text, (uint32_t)(colon - text)}, text_of(colon + 1)};
}

static const char *fault_of_rename(const char *text)
{
	struct rename is;

	if (!strchr(text, ':'))
		return "it must be OLD:NEW, the key that tags have and the one that they get, several "
		       "separated by commas";
	is = split(text);
	if (!is.old.size || !is.new.size)
		return is.old.size ? "there is no new key behind the colon"
				   : "there is no old key before the colon";
	if (strpbrk(text, "*?[]"))
		return "a tag is renamed by its whole key, so there are no wildcards here";
	if (text_is_equal(is.old, is.new))
		return "both keys are the same";
	if (text_is(is.old, "error") || text_is(is.new, "error"))
		return "`error` says that a span has failed: it cannot be renamed, and no other tag can "
		       "become it";
	return tags_key_fault(is.new) ? tags_key_fault(is.new) : fault_of_key(text);
}

/* How it goes with those that are there. Chains would depend on how often they are gone through. */
static const char *fault_among(char *const *list, const struct rename *is)
{
	for (; *list; list++) {
		struct rename other = split(*list);

		if (text_is_equal(other.old, is->old) && other.old.data != is->old.data)
			return "its old key is renamed twice";
		if (text_is_equal(other.old, is->new))
			return "its new key is itself renamed: write what the tag is to be called in the end";
	}
	return NULL;
}

int tagrules_check_renames(const char *text, char *error, size_t size)
{
	g_auto(GStrv) list = globs_split(text);

	if (check_each(list, "OLD:NEW", fault_of_rename, error, size) != 0)
		return -1;
	for (char **rename = list; *rename; rename++) {
		struct rename is = split(*rename);
		const char *fault = fault_among(list, &is);

		if (fault)
			return say_fault(*rename, fault, error, size);
	}
	return 0;
}

/* A tag that is left out can neither be renamed nor be redacted. */
static char *conflict_of(char *const *drops, struct text key, const char *with, const char *what)
{
	const char *glob = find_glob(drops, key);

	if (!glob)
		return NULL;
	return g_strdup_printf("`%s` has `%s`, but `drop-tags` leaves out `%.*s` by its `%s`: take one of "
			       "both away,",
		with, what, (int)key.size, key.data, glob);
}

char *tagrules_conflict(const char *drop, const char *rename, const char *redact, const char **with)
{
	g_auto(GStrv) drops = globs_split(drop), renames = globs_split(rename), redacts = globs_split(redact);
	char *conflict = NULL;

	*with = "redact";
	for (char **glob = redacts; *glob && !conflict; glob++)
		conflict = conflict_of(drops, text_of(*glob), *with, *glob);
	if (conflict)
		return conflict;
	*with = "rename-tags";
	for (char **word = renames; *word && !conflict; word++) {
		struct rename is = split(*word);

		conflict = conflict_of(drops, is.old, *with, *word);
		if (!conflict)
			conflict = conflict_of(drops, is.new, *with, *word);
	}
	return conflict;
}

/* The rules */

static struct tagrules *create(const char *drop, const char *rename, const char *redact, const char *tags)
{
	struct tagrules *rules = g_new0(struct tagrules, 1);
	char error[512]; /* there is none: all were read before */

	rules->drop = globs_split(drop);
	rules->redact = globs_split(redact);
	rules->renames = globs_split(rename);
	for (char **word = rules->renames; *word; word++)
		rules->rename[rules->rename_count++] = split(*word);
	tags_parse(&rules->added, g_intern_string(tags), error, sizeof(error));
	return rules;
}

const struct tagrules *tagrules_intern(
	const char *drop, const char *rename, const char *redact, const char *tags)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static GHashTable *all;
	g_autofree char *name = g_strjoin("\n", drop, rename, redact, tags, NULL);
	struct tagrules *rules;

	if (!*drop && !*rename && !*redact)
		return NULL;
	pthread_mutex_lock(&lock);
	if (!all)
		all = g_hash_table_new(g_str_hash, g_str_equal);
	rules = g_hash_table_lookup(all, name);
	if (!rules) {
		rules = create(drop, rename, redact, tags);
		g_hash_table_insert(all, g_steal_pointer(&name), rules);
	}
	pthread_mutex_unlock(&lock);
	return rules;
}

static bool is_added(const struct tagrules *rules, struct text key, struct text value)
{
	for (size_t i = 0; i < rules->added.count; i++)
		if (text_is_equal(rules->added.of[i].key, key) &&
			text_is_equal(rules->added.of[i].value, value))
			return true;
	return false;
}

struct tagfate tagrules_find(const struct tagrules *rules, struct text key, struct text value)
{
	struct tagfate fate = {.key = key};

	for (size_t i = 0; i < rules->rename_count; i++)
		if (text_is_equal(rules->rename[i].old, key))
			fate.key = rules->rename[i].new;
	fate.dropped = find_glob(rules->drop, key) || find_glob(rules->drop, fate.key);
	fate.redacted = find_glob(rules->redact, key) || find_glob(rules->redact, fate.key);
	if ((fate.dropped || fate.redacted || fate.key.data != key.data) && is_added(rules, key, value))
		return (struct tagfate){.key = key};
	return fate;
}
