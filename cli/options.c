/* SPDX-License-Identifier: BSD-2-Clause */
#include "options.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <glib.h>

#include "base/suggest.h"

#define OPTIONS_MAX 30
#define HELP_VALUE 0x100
/* How much of a wrong option is quoted. */
#define WORD_MAX 64

static void tell_unknown(const char *command, const char *option, const struct option *options)
{
	const char *names[OPTIONS_MAX + 1], *nearest;
	char word[WORD_MAX + 1];
	size_t count = 0;

	while (options[count].name) {
		names[count] = options[count].name;
		count++;
	}
	g_strlcpy(word, option + strspn(option, "-"), sizeof(word));
	word[strcspn(word, "=")] = '\0';
	nearest = suggest(word, names, count);
	fprintf(stderr, "blkin %s: unknown option %s; ", command, option);
	if (nearest)
		fprintf(stderr, "did you mean --%s?\n", nearest);
	else
		fprintf(stderr, "`blkin %s --help` lists the options\n", command);
}

/* Whether getopt_long refused the word because it gives a value to an option that takes none. */
static bool gives_value(const char *word, const struct option *options)
{
	const char *value = strchr(word, '=');

	for (; value && strncmp(word, "--", 2) == 0 && options->name; options++)
		if (options->val == optopt && !options->has_arg &&
			strncmp(word + 2, options->name, (size_t)(value - word - 2)) == 0)
			return true;
	return false;
}

int options_next(int argc, char **argv, const struct option *options, const char *help)
{
	struct option all[OPTIONS_MAX + 2] = {{"help", no_argument, NULL, HELP_VALUE}};
	int option;

	for (size_t i = 0; i < OPTIONS_MAX && options[i].name; i++)
		all[i + 1] = options[i];
	opterr = 0;
	option = getopt_long(argc, argv, ":h", all, NULL);
	switch (option) {
	case 'h':
	case HELP_VALUE:
		fputs(help, stdout);
		return OPTIONS_HELP;
	case ':':
		fprintf(stderr, "blkin %s: %s needs a value; see `blkin %s --help`\n", argv[0],
			argv[optind - 1], argv[0]);
		return OPTIONS_WRONG;
	case '?':
		if (gives_value(argv[optind - 1], all))
			fprintf(stderr, "blkin %s: %s: this option takes no value\n", argv[0],
				argv[optind - 1]);
		else
			tell_unknown(
				argv[0], optopt ? (char[]){'-', (char)optopt, '\0'} : argv[optind - 1], all);
		return OPTIONS_WRONG;
	default:
		return option;
	}
}

int options_no_arguments(int argc, char **argv)
{
	if (optind >= argc)
		return OPTIONS_END;
	fprintf(stderr, "blkin %s: unexpected argument %s; see `blkin %s --help`\n", argv[0], argv[optind],
		argv[0]);
	return OPTIONS_WRONG;
}
