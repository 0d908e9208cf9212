/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/via.h"

#include <pthread.h>
#include <sys/random.h>
#include <time.h>

/* So long a number is remembered, ns. */
#define REMEMBERED_NS (INT64_C(60) * 1000000000)

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t own; /* 0: not drawn yet */
static struct {
	uint64_t number;
	int64_t noted;
} others[VIA_MAX - 1];
static size_t other_count;

void via_begin(void)
{
	uint64_t number = 0;

	while (!number)
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			number = (uint64_t)time(NULL) << 20 | (uint64_t)clock();
	pthread_mutex_lock(&lock);
	if (!own)
		own = number;
	pthread_mutex_unlock(&lock);
}

/* Where the number is, or may be put: where nothing is any more, or else the oldest is. */
static size_t find_place(uint64_t number)
{
	size_t oldest = 0;

	for (size_t i = 0; i < other_count; i++) {
		if (others[i].number == number)
			return i;
		if (others[i].noted < others[oldest].noted)
			oldest = i;
	}
	return other_count < VIA_MAX - 1 ? other_count++ : oldest;
}

bool via_is_own(uint64_t number)
{
	bool is;

	pthread_mutex_lock(&lock);
	is = own && number == own;
	pthread_mutex_unlock(&lock);
	return is;
}

void via_note(uint64_t number, int64_t now)
{
	size_t place;

	pthread_mutex_lock(&lock);
	if (number != own) {
		place = find_place(number);
		others[place].number = number;
		others[place].noted = now;
	}
	pthread_mutex_unlock(&lock);
}

size_t via_read(uint64_t numbers[VIA_MAX], int64_t now)
{
	size_t count = 0, kept = 0;

	pthread_mutex_lock(&lock);
	if (own)
		numbers[count++] = own;
	for (size_t i = 0; i < other_count; i++) {
		if (now - others[i].noted > REMEMBERED_NS)
			continue;
		others[kept++] = others[i];
		if (own)
			numbers[count++] = others[i].number;
	}
	other_count = kept;
	pthread_mutex_unlock(&lock);
	return count;
}
