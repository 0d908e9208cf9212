/* SPDX-License-Identifier: BSD-2-Clause */
#include "look/folding.h"

#include <getopt.h>

#include "base/log.h"
#include "look/wanted.h"

static bool take_depth(const char *text, unsigned *depth)
{
	guint64 number;

	if (!g_ascii_string_to_unsigned(text, 10, 1, 1000, &number, NULL)) {
		log_error("--depth takes a whole number from 1 to 1000, not %s", text);
		return false;
	}
	*depth = (unsigned)number;
	return true;
}

bool folding_option(struct trace_folding *folding, int option)
{
	int64_t ns = 0;

	if (option == 'W')
		folding->wide = true;
	else if (option == 'D')
		return take_depth(optarg, &folding->depth);
	else if (option == 'm' && !wanted_duration(optarg, &ns))
		return false;
	else if (option == 'm')
		folding->min_duration = ns / 1000;
	return true;
}
