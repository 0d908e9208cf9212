/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/shortest.h"

#include <math.h>
#include <string.h>

#include <glib.h>

const char *shortest_word(double value)
{
	if (isfinite(value))
		return NULL;
	return isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

size_t shortest_print(char text[SHORTEST_ROOM], double value)
{
	static const char *const formats[] = {"%.15g", "%.16g", "%.17g"};

	for (size_t i = 0; i < G_N_ELEMENTS(formats); i++) {
		double again;

		g_ascii_formatd(text, SHORTEST_ROOM, formats[i], value);
		again = g_ascii_strtod(text, NULL);
		/* to the bit, as -0 has to stay -0: NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
		if (!memcmp(&again, &value, sizeof(value)))
			break;
	}
	return strlen(text);
}
