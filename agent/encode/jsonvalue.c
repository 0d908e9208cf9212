/* SPDX-License-Identifier: BSD-2-Clause */
#include "encode/jsonvalue.h"

#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/shortest.h"

/* Two digits at a time, as divisions are what takes long. */
char *jsonvalue_unsigned(char *to, uint64_t value)
{
	static const char pairs[] =
		"00010203040506070809101112131415161718192021222324252627282930313233343536373839"
		"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
		"8081828384858687888990919293949596979899";
	char digits[20], *first = digits + sizeof(digits);
	size_t size;

	for (; value >= 100; value /= 100)
		memcpy(first -= 2, pairs + value % 100 * 2, 2);
	if (value >= 10)
		memcpy(first -= 2, pairs + value * 2, 2);
	else
		*--first = (char)('0' + value);
	size = (size_t)(digits + sizeof(digits) - first);
	memcpy(to, first, size);
	return to + size;
}

char *jsonvalue_signed(char *to, int64_t value)
{
	if (value >= 0)
		return jsonvalue_unsigned(to, (uint64_t)value);
	*to = '-';
	return jsonvalue_unsigned(to + 1, -(uint64_t)value);
}

static char *put(char *to, const char *literal)
{
	size_t size = strlen(literal);

	memcpy(to, literal, size);
	return to + size;
}

char *jsonvalue_real(char *to, double value)
{
	const char *word = shortest_word(value);
	char text[SHORTEST_ROOM];

	if (word)
		return put(put(put(to, "\""), word), "\"");
	shortest_print(text, value);
	to = put(to, text);
	return strpbrk(text, ".e") ? to : put(to, ".0");
}

/* Times before the epoch, too. */
static void split(int64_t ns, int64_t *second, int64_t *rest)
{
	*second = ns / NS_PER_SECOND;
	*rest = ns % NS_PER_SECOND;
	if (*rest < 0) {
		*rest += NS_PER_SECOND;
		--*second;
	}
}

char *jsonvalue_time(char *to, struct iso_time *cache, int64_t ns)
{
	int64_t second, rest;
	struct tm utc;

	split(ns, &second, &rest);
	if (!cache->text[0] || cache->second != second) {
		gmtime_r(&(time_t){second}, &utc);
		strftime(cache->text, sizeof(cache->text), "%Y-%m-%dT%H:%M:%S.", &utc);
		cache->second = second;
	}
	*to++ = '"';
	to = put(to, cache->text);
	for (int i = 8; i >= 0; i--, rest /= 10)
		to[i] = (char)('0' + rest % 10);
	memcpy(to + 9, "Z\"", 2);
	return to + 11;
}
