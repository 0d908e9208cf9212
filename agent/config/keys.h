/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of the configuration's keys: what there is, its default, and what it can be. */
#ifndef CONFIG_KEYS_H
#define CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_type {
	TEXT,         /* char *, any */
	NAME,         /* char *, not empty, [A-Za-z0-9_.-] */
	PATH,         /* char *, of a URL: from / on */
	FOLDER,       /* char *, of a file system: from / on, with none at the end */
	ADDRESS,      /* char *, HOST:PORT */
	ADDRESSES,    /* char *, several with commas */
	TAGS,         /* char *, KEY=VALUE, several with commas */
	TAG_GLOBS,    /* char *, globs of tags' keys, several with commas: tagrules.h */
	TAG_RENAMES,  /* char *, OLD:NEW, several with commas: the same */
	FILE_OR_NONE, /* char *, of a file system: from / on, or empty */
	PROXY,        /* char *, proxyurl.h */
	GLOBS,        /* char *, several with commas: globs.h */
	SYMBOLS,      /* char *, of functions, several with commas: the same */
	CONTEXTS,     /* char *, the same: contexts.h */
	PAIRS,        /* char *, ENTER/EXIT by vtid, several with commas: pairrules.h */
	ADDRESS_OR_NONE,
	SOCKET_OR_NONE, /* char *, ADDRESS:PORT, or a path, from / on, or empty */
	NUMBER,         /* uint64_t */
	SIZE,           /* uint64_t, bytes: 64K, 16M, 1G */
	LEVEL,          /* uint64_t: syslog's number for its name */
	CHOICE,         /* uint64_t: which of the words in `text`, with | between them */
	WORDS,          /* uint64_t: a bit for each of the words in `text`; with commas in a file */
	SHARE,          /* uint64_t, the N of 1/N; 0: auto */
	RATE,           /* uint64_t, a second: 5000/s */
	DURATION        /* int64_t, ns: 200ms, 5s, 1min */
};

/* The struct that holds the value. */
enum config_scope { SCOPE_AGENT /* struct config */, SCOPE_OUTPUT /* struct output_config */ };

/* What an output's keys are for: a type of output takes some of these (outputtype.h), and `none` has only
 * `type`. */
enum config_keys_for {
	KEYS_ANY = 1,
	KEYS_DELIVERS = 2,
	KEYS_CONNECTS = 4,
	KEYS_SERVERS = 8,
	KEYS_POSTS = 16,
	KEYS_FORMATS = 32,
	KEYS_COMPRESSES = 64,
	KEYS_CATEGORIES = 128,
	KEYS_LOGS = 256,
	KEYS_BROKERS = 512,
	KEYS_FILES = 1024
};

struct config_key {
	const char *section, *name; /* "output" for every output */
	enum config_type type;
	enum config_scope scope;
	size_t offset;    /* in the scope's struct */
	unsigned change;  /* an enum config_change */
	unsigned group;   /* of an output's: an enum config_keys_for */
	const char *text; /* default of the char * types; of CHOICE and WORDS the words */
	uint64_t number;  /* default of the others */
	uint64_t min, max;
};

/* Keys of a section stand together. */
extern const struct config_key config_keys[];
extern const size_t config_key_count;

/* NULL if there is none. */
const struct config_key *config_key_find(const char *section, const char *name);

/* The key or the section whose name is nearest to @name, or NULL if none is near. */
const char *config_key_suggest(const char *section, const char *name);
const char *config_section_suggest(const char *name);

/* The section that has a key of this name, or NULL. */
const char *config_key_section(const char *name);

#endif
