/* SPDX-License-Identifier: BSD-2-Clause */
/* Numbers and names of events as JSON, for encoders: into memory that is there. Texts are jsontext.h's. */
#ifndef ENCODE_JSONVALUE_H
#define ENCODE_JSONVALUE_H

#include <stdint.h>

/* The most bytes that each of these writes; they return where it ends. */
#define JSONVALUE_MAX 40

/* All digits: whoever reads them into a double loses those above 2^53. */
char *jsonvalue_unsigned(char *to, uint64_t value);
char *jsonvalue_signed(char *to, int64_t value);

/*
 * Digits that read back the same (shortest.h), always with a point or an exponent, so that a field is of one
 * type for those who guess it. JSON has no word for what is no number: that becomes "NaN", "Infinity" or
 * "-Infinity".
 */
char *jsonvalue_real(char *to, double value);

/* Nanoseconds since the epoch as a text of ISO 8601, in UTC, with nine digits behind the point. */
struct iso_time {
	int64_t second; /* the one that is in the text */
	char text[24];  /* zeroed, it is not made yet */
};

char *jsonvalue_time(char *to, struct iso_time *cache, int64_t ns);

#endif
