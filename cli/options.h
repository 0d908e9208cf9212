/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of a subcommand, by getopt_long, with errors that help. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <getopt.h>

enum {
	OPTIONS_END = -1,  /* what is left, from argv[optind] on, are no options */
	OPTIONS_HELP = -2, /* help was printed: exit with 0 */
	OPTIONS_WRONG = -3 /* said what is wrong: exit with 64 */
};

/*
 * Returns the `val` of the next of @options (a "help" is added), its value in optarg, or one of the above.
 * @help is what
 * --help prints.
 */
int options_next(int argc, char **argv, const struct option *options, const char *help);

/* Says that there are arguments which the command does not take. Returns OPTIONS_WRONG, or OPTIONS_END if
 * there are none. */
int options_no_arguments(int argc, char **argv);

#endif
