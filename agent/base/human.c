/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/human.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "base/clock.h"

const char *human_size(char text[HUMAN_MAX], uint64_t bytes)
{
	static const char *const units[] = {"KiB", "MiB", "GiB", "TiB", "PiB"};
	double size = (double)bytes / 1024;
	unsigned unit = 0;

	while (size >= 1023.5 && unit + 1 < sizeof(units) / sizeof(*units)) {
		size /= 1024;
		unit++;
	}
	if (bytes == 0)
		snprintf(text, HUMAN_MAX, "0");
	else if (bytes < 1024)
		snprintf(text, HUMAN_MAX, "%" PRIu64 " B", bytes);
	else
		snprintf(text, HUMAN_MAX, size < 999.5 ? "%.3g %s" : "%.4g %s", size, units[unit]);
	return text;
}

const char *human_time(char text[HUMAN_MAX], int64_t ns)
{
	int64_t seconds = ns / NS_PER_SECOND;

	if (ns >= NS_PER_MS && seconds < 1)
		snprintf(text, HUMAN_MAX, "%" PRId64 " ms", ns / NS_PER_MS);
	else if (seconds < 10)
		snprintf(text, HUMAN_MAX, "%.2g s", ns < NS_PER_MS ? 0 : (double)ns / 1e9);
	else if (seconds < 120)
		snprintf(text, HUMAN_MAX, "%" PRId64 " s", seconds);
	else if (seconds < 2 * 3600)
		snprintf(text, HUMAN_MAX, "%" PRId64 " min", seconds / 60);
	else if (seconds < 48 * 3600)
		snprintf(text, HUMAN_MAX, "%" PRId64 " h", seconds / 3600);
	else
		snprintf(text, HUMAN_MAX, "%" PRId64 " days", seconds / 86400);
	return text;
}

const char *human_moment(char text[HUMAN_MAX], int64_t seconds)
{
	time_t when = (time_t)seconds;
	struct tm is;

	if (!localtime_r(&when, &is) || !strftime(text, HUMAN_MAX, "%Y-%m-%d %H:%M", &is))
		*text = '\0';
	return text;
}
