/* SPDX-License-Identifier: BSD-2-Clause */
/* The text of spans: numbers, and lines that others' text goes into. Not for programs: names may change. */
#ifndef BLKIN_TEXT_H_
#define BLKIN_TEXT_H_

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* For the calls whose argument is usually a literal, so that the compiler knows its length. */
#define BLKIN_INLINE_ __attribute__((always_inline))
/* For what is called rarely, and should not be in the way. */
#define BLKIN_RARE_ __attribute__((cold))
/* For what is done only while spans are recorded: so that a call that is off is short. */
#define BLKIN_APART_ __attribute__((noinline, unused))
/* Whether the compiler knows that the condition holds, as it does of literals. */
#define BLKIN_KNOWN_(condition) (__builtin_constant_p(condition) && (condition))
#define BLKIN_HAS_(text, c) (__builtin_strchr(text, c) ? 1 : 0)
/* A literal of less than @most bytes */
#define BLKIN_KNOWN_SHORT_(text, most) BLKIN_KNOWN_(__builtin_strlen(text) < (most))
/* A literal without a line break */
#define BLKIN_KNOWN_LINE_(text) BLKIN_KNOWN_(!BLKIN_HAS_(text, '\n'))
/* A literal that a line `KEY=VALUE` can begin with */
#define BLKIN_KNOWN_KEY_(text)                                                                               \
	BLKIN_KNOWN_(!(BLKIN_HAS_(text, '\n') | BLKIN_HAS_(text, '=') | BLKIN_HAS_("#+-@!&", *(text))))

/* Bytes of four numbers of 16 hex digits, each with a space behind it */
#define BLKIN_IDS_TEXT_ (4 * 17)

/*
 * How many decimal digits it has. By branches, which the processor predicts: so it can go on with what
 * follows before the number is known, as that of a clock's reading.
 */
static inline unsigned blkin_digits_(uint64_t number)
{
	unsigned size = 1;

	for (; number >= 10000; number /= 10000)
		size += 4;
	if (number < 10)
		return size;
	if (number < 100)
		return size + 1;
	return number < 1000 ? size + 2 : size + 3;
}

/* Writes @number in decimal at @to, which has room for 20 digits; returns where it ends. */
static inline char *blkin_put_number_(char *to, uint64_t number)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char *end = to + blkin_digits_(number), *at = end;
	uint32_t rest; /* which is divided in half the time */

	for (; number > UINT32_MAX; number /= 100)
		memcpy(at -= 2, pairs + number % 100 * 2, 2);
	for (rest = (uint32_t)number; rest >= 10; rest /= 100)
		memcpy(at -= 2, pairs + rest % 100 * 2, 2);
	if (at > to)
		*to = (char)('0' + rest);
	return end;
}

#ifdef __has_builtin
#if __has_builtin(__builtin_shufflevector) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define BLKIN_VECTORS_
#endif
#endif

#ifdef BLKIN_VECTORS_
typedef signed char blkin_bytes_ __attribute__((vector_size(16)));
typedef unsigned short blkin_words_ __attribute__((vector_size(16)));
typedef uint64_t blkin_numbers_ __attribute__((vector_size(16)));

/* Sixteen numbers below 16 as hex digits */
static inline void blkin_put_digits_(char *to, blkin_bytes_ numbers)
{
	blkin_bytes_ digits = numbers + '0' + ((numbers > 9) & ('a' - '9' - 1));

	memcpy(to, &digits, sizeof(digits));
}

/* Writes two numbers of 16 hex digits, in a few instructions. */
static inline void blkin_put_hex_twice_(char *one, uint64_t value, char *other, uint64_t other_value)
{
	const blkin_numbers_ values = {__builtin_bswap64(value), __builtin_bswap64(other_value)};
	blkin_bytes_ low = (blkin_bytes_)values & 15;
	blkin_bytes_ high = (blkin_bytes_)((blkin_words_)values >> 4) & 15;

	blkin_put_digits_(one,
		__builtin_shufflevector(high, low, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23));
	blkin_put_digits_(other, __builtin_shufflevector(high, low, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
					 29, 14, 30, 15, 31));
}
#else
static inline void blkin_put_hex_twice_(char *one, uint64_t value, char *other, uint64_t other_value)
{
	int i;

	for (i = 15; i >= 0; i--, value >>= 4, other_value >>= 4) {
		one[i] = "0123456789abcdef"[value & 15];
		other[i] = "0123456789abcdef"[other_value & 15];
	}
}
#endif

/* Writes what a span's text begins with, "TRACE SPAN PARENT START ", in BLKIN_IDS_TEXT_ bytes. */
static inline void blkin_put_ids_(char *to, uint64_t trace, uint64_t span, uint64_t parent, uint64_t start)
{
	blkin_put_hex_twice_(to, trace, to + 17, span);
	blkin_put_hex_twice_(to + 34, parent, to + 51, start);
	to[16] = to[33] = to[50] = to[67] = ' ';
}

/* Not 0 if one of the word's bytes is below @limit, 128 at most. */
static inline uint64_t blkin_below_(uint64_t word, unsigned char limit)
{
	const uint64_t ones = 0x0101010101010101u;

	return (word - ones * limit) & ~word & ones << 7;
}

static inline uint64_t blkin_copy_8_(char *to, const char *from, unsigned char limit)
{
	uint64_t word;

	memcpy(&word, from, 8);
	memcpy(to, &word, 8);
	return blkin_below_(word, limit);
}

static inline uint64_t blkin_copy_4_(char *to, const char *from, unsigned char limit)
{
	uint32_t word;

	memcpy(&word, from, 4);
	memcpy(to, &word, 4);
	return blkin_below_(~(uint64_t)UINT32_MAX | word, limit);
}

/* Copies text; returns not 0 if one of its bytes is below @limit. The last word overlaps the one before. */
static inline uint64_t blkin_copy_(char *to, const char *from, size_t size, unsigned char limit)
{
	uint64_t below = 0;
	size_t i;

	if (size >= 8) {
		for (i = 0; i + 8 < size; i += 8)
			below |= blkin_copy_8_(to + i, from + i, limit);
		return below | blkin_copy_8_(to + size - 8, from + size - 8, limit);
	}
	if (size >= 4)
		return blkin_copy_4_(to, from, limit) | blkin_copy_4_(to + size - 4, from + size - 4, limit);
	for (i = 0; i < size; i++) {
		to[i] = from[i];
		below |= (unsigned char)to[i] < limit;
	}
	return below;
}

/*
 * Copies text into a line; returns 0 if there is a line break in it, or a NUL, which is there if another
 * thread has changed the text since its size was taken.
 */
static inline int blkin_copy_line_(char *to, const char *from, size_t size)
{
	if (!blkin_copy_(to, from, size, '\n' + 1))
		return 1;
	return !memchr(to, '\n', size) && !memchr(to, '\0', size);
}

/*
 * Copies a name of up to @most bytes, the beginning of a longer one, without line breaks; returns where it
 * ends.
 */
static inline char *blkin_put_name_(char *to, const char *name, size_t most)
{
	size_t size = strlen(name), i;

	if (size > most)
		size = most;
	if (!blkin_copy_(to, name, size, '\n' + 1))
		return to + size;
	for (i = 0; i < size; i++)
		if (to[i] == '\n' || to[i] == '\0')
			to[i] = ' ';
	return to + size;
}

#ifdef __cplusplus
}
#endif

#endif
