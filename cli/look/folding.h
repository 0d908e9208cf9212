/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that say how much of a trace is drawn: of `blkin collect`, `tail --trees` and `import --print`.
 */
#ifndef LOOK_FOLDING_H
#define LOOK_FOLDING_H

#include <stdbool.h>

#include "look/style.h"

/* For a command's table of options, and the letters that they have. */
#define FOLDING_OPTIONS                                                                                      \
	{"wide", no_argument, NULL, 'W'}, {"depth", required_argument, NULL, 'D'},                           \
	{                                                                                                    \
		"min-duration", required_argument, NULL, 'm'                                                 \
	}

/* For its help. */
#define FOLDING_HELP                                                                                         \
	"  --wide               do not cut lines to the terminal's width\n"                                  \
	"  --depth N            of trees: fold what is deeper than N spans\n"
#define FOLDING_DURATION_HELP                                                                                \
	"  --min-duration TIME  of trees: fold spans below which nothing took so long, such as\n"            \
	"                       20ms\n"

/* Takes an option, of which optarg is the value; false, having said why, if that cannot be. */
bool folding_option(struct trace_folding *folding, int option);

#endif
