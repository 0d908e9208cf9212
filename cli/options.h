/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads the options of a subcommand with getopt_long, and says what is wrong with them. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <getopt.h>

enum {
	OPTIONS_END = -1,  /* the remaining arguments, from argv[optind] on, are not options */
	OPTIONS_HELP = -2, /* help was printed: exit with 0 */
	OPTIONS_WRONG = -3 /* the error was printed: exit with 64 */
};

/*
 * Returns the `val` of the next of @options (a "help" is added), its value in optarg, or one of the above.
 * --help prints @help.
 */
int options_next(int argc, char **argv, const struct option *options, const char *help);

/* Returns OPTIONS_END if no arguments are left; otherwise OPTIONS_WRONG, having printed an error. */
int options_no_arguments(int argc, char **argv);

#endif
