/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types of output: what is known of each without delivering anything. A type's own file (types/) says it
 * all once; who asks, from the check of a configuration to the doctor's advice, knows no type by name.
 *
 * There are two descriptors of a type, by the same list: this one, which needs nothing but the configuration,
 * and output/uplink/uplinktype.h, of how it delivers. One descriptor for both would make the configuration
 * see connections and librdkafka, or the reader of a configuration start at the uplink.
 */
#ifndef CONFIG_OUTPUTTYPE_H
#define CONFIG_OUTPUTTYPE_H

#include <glib.h>

#include "base/address.h"
#include "config/config.h"
#include "core/fault.h"

/* Instead of an enum config_output: which type an output has is not known. */
#define OUTPUT_NO_TYPE (-1)

/* What is said of any of these names: "|name|other|". */
struct output_advice {
	const char *names, *words;
};

/* A port that usually has another protocol, and which: "which is usually ...". */
struct output_port {
	uint16_t port;
	const char *words;
};

/* In a remedy, what the type calls its port, and where it posts to. */
#define REMEDY_PORT "{port}"
#define REMEDY_PATH "{path}"

struct output_type {
	const char *name;   /* as `type` has it, */
	const char *also;   /* and what others call it, "|name|other|"; NULL: nothing else */
	unsigned takes;     /* of enum config_takes: what it can take; 0: it delivers nothing */
	unsigned keys;      /* of enum config_keys_for: what goes with it */
	unsigned formats;   /* a bit for each enum config_format that it has; 0: it has no choice */
	const char *place;  /* the key of where it delivers to: servers, or a directory; NULL: nowhere */
	const char *port;   /* that such a server usually has */
	const char *intake; /* the key of [input] that takes what it sends, so it might come back; or NULL */

	/* Sets what has another default than the table of keys says (output_type_default); or NULL. */
	void (*settle)(const struct config *config, struct output_config *output);

	/* The rules for keys together that name the type: 0, or -1 having logged those that are broken; or
	 * NULL. */
	int (*check)(const struct config *config, const struct output_config *output);

	/* Advice; each list ends with an empty one, and may be NULL */
	const struct output_advice *keys_meant; /* keys of other types, and of other programs */
	const struct output_port *ports;
	const char *schemes;     /* of URLs that mean this type, "|kafka|"; NULL: none does */
	const char *scheme_note; /* what differs where such a URL leads, as its port; NULL: nothing */
	const char *url_path;    /* in URLs of HTTP that mean this type; NULL: none does */
	/* What may surprise, for g_free; NULL: nothing. Or NULL. */
	char *(*note)(const struct output_config *output);

	/* What to do about what is wrong; for what is not here, status/remedy.c has a text for all */
	const char *const *remedies; /* by the fault, or NULL */
	const char *port_words;      /* for REMEDY_PORT */
	/* Puts what is the output's own into a remedy, as REMEDY_PATH; or NULL. */
	void (*reword)(GString *remedy, const struct output_config *output, enum kind kind);
	const char *unsteady; /* about one that fails again and again; NULL: what is said of any server */
};

/* By enum config_output; config/outputtypes.h lists them. */
extern const struct output_type *const output_types[CONFIG_OUTPUT_TYPES];

static inline const struct output_type *output_type_of(const struct output_config *output)
{
	return output_types[output->type];
}

/* The type of that name; that of outputs which deliver nothing if there is none. */
const struct output_type *output_type_named(const char *name);

/* The name of the type that others call so, in any case; NULL if none is. */
const char *output_type_meant(const char *text);

/* Whether it delivers to servers, and not into a directory, or nowhere. */
bool output_type_has_servers(const struct output_type *type);

/* Whether it delivers into a directory. */
bool output_type_has_directory(const struct output_type *type);

/* The output's servers; returns how many, 0 if it has none. */
size_t output_servers(const struct output_config *output, struct address list[ADDRESSES_MAX]);

/* For types: sets the key to what a file would have, unless a file sets it. */
void output_type_default(struct output_config *output, const char *key, const char *text);

/* For types: what of the list is said of the name, or NULL. */
const char *output_advice_find(const struct output_advice *list, const char *name);

/* Whether the framed list "|a|b|", or NULL, has the name. */
bool output_list_has(const char *list, const char *name);

#endif
