/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/siphash.h"

#include <endian.h>
#include <string.h>

/* Rounds for each word, and at the end. */
#define WORD_ROUNDS 2
#define END_ROUNDS 4

struct state {
	uint64_t v[4];
};

static inline uint64_t rotate(uint64_t value, int bits)
{
	return value << bits | value >> (64 - bits);
}

static void mix(struct state *state, int rounds)
{
	uint64_t *v = state->v;

	while (rounds--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static void take_word(struct state *state, uint64_t word)
{
	state->v[3] ^= word;
	mix(state, WORD_ROUNDS);
	state->v[0] ^= word;
}

static uint64_t word_at(const uint8_t *at, size_t size)
{
	uint64_t word = 0;

	memcpy(&word, at, size);
	return le64toh(word);
}

uint64_t siphash(const uint8_t key[SIPHASH_KEY_SIZE], const void *data, size_t size)
{
	const uint64_t low = word_at(key, 8), high = word_at(key + 8, 8);
	const uint8_t *at = data;
	size_t left = size;
	/* "somepseudorandomlygeneratedbytes" */
	struct state state = {{low ^ 0x736f6d6570736575, high ^ 0x646f72616e646f6d, low ^ 0x6c7967656e657261,
		high ^ 0x7465646279746573}};

	for (; left >= 8; at += 8, left -= 8)
		take_word(&state, word_at(at, 8));
	take_word(&state, (uint64_t)size << 56 | (left ? word_at(at, left) : 0));
	state.v[2] ^= 0xff;
	mix(&state, END_ROUNDS);
	return state.v[0] ^ state.v[1] ^ state.v[2] ^ state.v[3];
}
