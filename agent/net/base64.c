/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Every span goes through here: 64 characters at a time where the CPU has AVX-512 with VBMI, and 32 where it
 * has AVX2, as W. Mula and D. Lemire showed ("Base64 encoding and decoding at almost the speed of a memory
 * copy", 2018, and "Faster Base64 Encoding and Decoding using AVX2 Instructions", 2018); elsewhere two, out
 * of a table of the 4096 values of 12 bits.
 */
#include "net/base64.h"

#include <pthread.h>
#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

static const char base64_alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Without special instructions */

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

/* One byte or two: the last ones. */
static void put_rest(char *to, const uint8_t *from, size_t size)
{
	uint32_t rest = (uint32_t)from[0] << 8 | (size == 2 ? from[1] : 0);

	to[0] = base64_alphabet[rest >> 10];
	to[1] = base64_alphabet[rest >> 4 & 63];
	to[2] = size == 2 ? base64_alphabet[(rest & 15) << 2] : '=';
	to[3] = '=';
}

static void encode_plain(char *to, const uint8_t *from, size_t size)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, fill_pairs);
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
	if (size)
		put_rest(to, from, size);
}

#ifdef __x86_64__
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512bw,avx512vbmi")))

/* Encodes 24 bytes. */
AVX2 static inline void put_32(char *to, const uint8_t *from)
{
	/* the bytes of each group of three, so that its four values lie in 16-bit lanes */
	const __m256i spread = _mm256_setr_epi8(1, 0, 2, 1, 4, 3, 5, 4, 7, 6, 8, 7, 10, 9, 11, 10, /* 12 */
		5, 4, 6, 5, 8, 7, 9, 8, 11, 10, 12, 11, 14, 13, 15, 14); /* 12 from 4 on */
	/* what to add to a value to get its character: by kind, 0 is A-Z, 1 a-z, 2-11 digits, 12 +, 13 / */
	const __m256i offsets = _mm256_broadcastsi128_si256(
		_mm_setr_epi8('A', 'a' - 26, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52, '0' - 52,
			'0' - 52, '0' - 52, '0' - 52, '0' - 52, '+' - 62, '/' - 63, 0, 0));
	__m256i halves =
		_mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)from)),
			_mm_loadu_si128((const __m128i *)(from + 8)), 1);
	__m256i in = _mm256_shuffle_epi8(halves, spread);
	__m256i first = _mm256_and_si256(in, _mm256_set1_epi32(0x0fc0fc00));
	__m256i second = _mm256_and_si256(in, _mm256_set1_epi32(0x003f03f0));
	__m256i values = _mm256_or_si256(_mm256_mulhi_epu16(first, _mm256_set1_epi32(0x04000040)),
		_mm256_mullo_epi16(second, _mm256_set1_epi32(0x01000010))); /* shifts by lane */
	__m256i beyond_z = _mm256_cmpgt_epi8(values, _mm256_set1_epi8(25)); /* -1 where it is so */
	__m256i kind = _mm256_sub_epi8(_mm256_subs_epu8(values, _mm256_set1_epi8(51)), beyond_z);

	_mm256_storeu_si256((__m256i *)to, _mm256_add_epi8(values, _mm256_shuffle_epi8(offsets, kind)));
}

AVX2 static void encode_avx2(char *to, const uint8_t *from, size_t size)
{
	size_t groups = size / 3, first = (groups - 1) % 8 + 1, rest = size - 3 * groups;
	const uint8_t *end = from + 3 * groups;
	char *to_end = to + 4 * groups;

	if (groups < 8) {
		encode_plain(to, from, size);
		return;
	}
	put_32(to, from); /* a part of which is written again, so that the others are whole */
	from += 3 * first;
	to += 4 * first;
	for (; end - from >= 48; from += 48, to += 64) {
		put_32(to, from);
		put_32(to + 32, from + 24);
	}
	if (from < end)
		put_32(to, from);
	if (rest)
		put_rest(to_end, end, rest);
}

/* Encodes @bytes bytes, 48 at most. */
AVX512 static inline void put_64(char *to, const uint8_t *from, size_t bytes)
{
	/* for each group of three, its bytes in an order in which each value's bits lie together */
	const __m512i spread = _mm512_set_epi32(0x2e2f2d2e, 0x2b2c2a2b, 0x28292728, 0x25262425, 0x22232122,
		0x1f201e1f, 0x1c1d1b1c, 0x191a1819, 0x16171516, 0x13141213, 0x10110f10, 0x0d0e0c0d,
		0x0a0b090a, 0x07080607, 0x04050304, 0x01020001);
	/* where the eight values of two groups begin */
	const __m512i begins = _mm512_set1_epi64(0x3036242a1016040a);
	__mmask64 in = UINT64_MAX >> (64 - bytes), out = UINT64_MAX >> (64 - BASE64_SIZE(bytes));
	__m512i groups = _mm512_permutexvar_epi8(spread, _mm512_maskz_loadu_epi8(in, from));
	__m512i values = _mm512_multishift_epi64_epi8(begins, groups);

	_mm512_mask_storeu_epi8(
		to, out, _mm512_permutexvar_epi8(values, _mm512_loadu_si512(base64_alphabet)));
}

AVX512 static void encode_avx512(char *to, const uint8_t *from, size_t size)
{
	for (; size >= 48; size -= 48, from += 48, to += 64)
		put_64(to, from, 48);
	if (size)
		put_64(to, from, size);
	to += BASE64_SIZE(size);
	if (size % 3)
		to[-1] = '=';
	if (size % 3 == 1)
		to[-2] = '=';
}
#else
#define encode_avx2 encode_plain
#define encode_avx512 encode_plain
#endif

static inline bool has(enum base64_way way)
{
#ifdef __x86_64__
	if (way == BASE64_AVX512)
		return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi");
	if (way == BASE64_AVX2)
		return __builtin_cpu_supports("avx2");
#endif
	return way == BASE64_PLAIN;
}

static inline void encode_by(enum base64_way way, char *to, const uint8_t *from, size_t size)
{
	if (way == BASE64_AVX512)
		encode_avx512(to, from, size);
	else if (way == BASE64_AVX2)
		encode_avx2(to, from, size);
	else
		encode_plain(to, from, size);
}

bool base64_has(enum base64_way way)
{
	return has(way);
}

void base64_encode_by(enum base64_way way, char *to, const uint8_t *from, size_t size)
{
	encode_by(way, to, from, size);
}

void base64_encode(char *to, const uint8_t *from, size_t size)
{
	encode_by(has(BASE64_AVX512) ? BASE64_AVX512
		  : has(BASE64_AVX2) ? BASE64_AVX2
				     : BASE64_PLAIN,
		to, from, size);
}
