/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of the configuration's keys: what there is, its default, and what it can be. */
#ifndef CONFIG_CONFIGKEYS_H
#define CONFIG_CONFIGKEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum config_type {
	TEXT,      /* char *, any */
	NAME,      /* char *, not empty, [A-Za-z0-9_.-] */
	PATH,      /* char *, of a URL: from / on */
	FOLDER,    /* char *, of a file system: from / on */
	ADDRESS,   /* char *, HOST:PORT */
	ADDRESSES, /* char *, several with commas */
	ADDRESS_OR_NONE,
	NUMBER,  /* uint64_t */
	SIZE,    /* uint64_t, bytes: 64K, 16M, 1G */
	LEVEL,   /* uint64_t: syslog's number for its name */
	CHOICE,  /* uint64_t: which of the words in `text`, with | between them */
	DURATION /* int64_t, ns: 200ms, 5s, 1min */
};

struct config_key {
	const char *section, *name;
	enum config_type type;
	size_t offset;    /* in struct config */
	const char *text; /* default of the char * types; of CHOICE the words */
	uint64_t number;  /* default of the others */
	uint64_t min, max;
};

/* Keys of a section stand together. */
extern const struct config_key config_keys[];
extern const size_t config_key_count;

/* NULL if there is none. */
const struct config_key *config_key_find(const char *section, const char *name);

/* What was meant by a name that is not known: say it in a sentence about @file, line @line. */
void config_key_log_unknown(const char *file, unsigned line, const char *section, const char *name);

/* Likewise a section. */
bool config_section_is_known(const char *section);
void config_section_log_unknown(const char *file, unsigned line, const char *section);

#endif
