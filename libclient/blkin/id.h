/* SPDX-License-Identifier: BSD-2-Clause */
/* Span and trace ids: 64 random bits, never 0; in each source file, each thread has its own generator. */
#ifndef BLKIN_ID_H_
#define BLKIN_ID_H_

#include <errno.h>
#include <stdint.h>
#include <sys/random.h>

#include <blkin/clock.h>
#include <blkin/provider.h>

#ifdef __cplusplus
extern "C" {
#endif

struct blkin_generator_ {
	uint64_t state;
	uint64_t step;  /* odd; 0: not seeded yet */
	unsigned forks; /* blkin_forks_ when it was seeded: a child must not repeat its parent */
};

/*
 * The generator's next state, in one step: a signal handler may ask for an id in the middle of this. No other
 * thread may: without the lock, which the compiler's own would take, this costs a fourth.
 */
static inline uint64_t blkin_step_(struct blkin_generator_ *generator)
{
#if defined(__x86_64__)
	uint64_t step = generator->step, state = step;

	__asm__("xadd{q}\t{%0, %1|%1, %0}" : "+r"(state), "+m"(generator->state) : : "cc");
	return state + step;
#else
	return __atomic_add_fetch(&generator->state, generator->step, __ATOMIC_RELAXED);
#endif
}

/* Without waiting: the kernel has nothing to give in the first moments of a boot. */
static inline void blkin_seed_(struct blkin_generator_ *generator)
{
	const int kept = errno;
	uint64_t seed[2];

	if (getrandom(seed, sizeof(seed), GRND_NONBLOCK) != (ssize_t)sizeof(seed)) {
		seed[0] = blkin_now();
		seed[1] = (uint64_t)(uintptr_t)generator ^ (blkin_now() << 32);
	}
	generator->state = seed[0];
	generator->step = seed[1] | 1u;
	generator->forks = blkin_forks_;
	errno = kept;
}

/**
 * blkin_id - a new span or trace id
 *
 * Returns 64 random bits, never 0. Safe in any thread and after fork: each thread has a generator of its own,
 * in each source file, seeded from the kernel, and a forked child seeds it anew. (SplitMix64: Steele, Lea and
 * Flood, OOPSLA 2014. One for all files would be found by a call in libraries that GCC builds.)
 */
static inline uint64_t blkin_id(void)
{
	static __thread struct blkin_generator_ generator;
	uint64_t id;

	if (__builtin_expect(generator.step == 0 || generator.forks != blkin_forks_, 0))
		blkin_seed_(&generator);
	do {
		id = blkin_step_(&generator);
		id = (id ^ (id >> 30)) * 0xbf58476d1ce4e5b9u;
		id = (id ^ (id >> 27)) * 0x94d049bb133111ebu;
		id ^= id >> 31;
	} while (id == 0);
	return id;
}

#ifdef __cplusplus
}
#endif

#endif
