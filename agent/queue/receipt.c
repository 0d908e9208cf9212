/* SPDX-License-Identifier: BSD-2-Clause */
#include "queue/receipt.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/memory.h"

struct receipt {
	pthread_mutex_t lock; /* guards what follows */
	unsigned owners;
	unsigned parts; /* that are not settled, and one until it is closed */
	bool lost;      /* one of them was dropped */
	bool given;
	void (*settled)(void *data); /* NULL: nobody is to be woken */
	void *data;
};

struct receipt *receipt_create(void (*settled)(void *data), void *data)
{
	struct receipt *receipt = memory_get(sizeof(*receipt));

	pthread_mutex_init(&receipt->lock, NULL);
	receipt->owners = receipt->parts = 1;
	receipt->settled = settled;
	receipt->data = data;
	return receipt;
}

struct receipt *receipt_ref(struct receipt *receipt)
{
	pthread_mutex_lock(&receipt->lock);
	receipt->owners++;
	pthread_mutex_unlock(&receipt->lock);
	return receipt;
}

void receipt_unref(struct receipt *receipt)
{
	bool last;

	if (!receipt)
		return;
	pthread_mutex_lock(&receipt->lock);
	last = --receipt->owners == 0;
	pthread_mutex_unlock(&receipt->lock);
	if (!last)
		return;
	pthread_mutex_destroy(&receipt->lock);
	free(receipt);
}

/* With the lock held, so that nobody is woken after receipt_silence has returned. */
static void end_part(struct receipt *receipt)
{
	if (--receipt->parts == 0 && receipt->settled)
		receipt->settled(receipt->data);
}

void receipt_close(struct receipt *receipt)
{
	pthread_mutex_lock(&receipt->lock);
	end_part(receipt);
	pthread_mutex_unlock(&receipt->lock);
}

void receipt_give(struct receipt *receipt)
{
	pthread_mutex_lock(&receipt->lock);
	receipt->given = true;
	pthread_mutex_unlock(&receipt->lock);
}

bool receipt_is_given(const struct receipt *receipt)
{
	struct receipt *is = (struct receipt *)receipt;
	bool given;

	pthread_mutex_lock(&is->lock);
	given = is->given;
	pthread_mutex_unlock(&is->lock);
	return given;
}

enum account_row receipt_row(const struct receipt *receipt)
{
	if (!receipt)
		return SPANS_QUEUED;
	return receipt_is_given(receipt) ? SPANS_ENTRUSTED : SPANS_HELD;
}

void receipt_silence(struct receipt *receipt)
{
	pthread_mutex_lock(&receipt->lock);
	receipt->settled = NULL;
	pthread_mutex_unlock(&receipt->lock);
}

bool receipt_is_settled(struct receipt *receipt, bool *good)
{
	bool settled;

	pthread_mutex_lock(&receipt->lock);
	settled = receipt->parts == 0;
	*good = settled && !receipt->lost;
	pthread_mutex_unlock(&receipt->lock);
	return settled;
}

struct receipt *receipt_take_part(struct receipt *receipt)
{
	if (!receipt)
		return NULL;
	pthread_mutex_lock(&receipt->lock);
	receipt->owners++;
	receipt->parts++;
	pthread_mutex_unlock(&receipt->lock);
	return receipt;
}

void receipt_end_part(struct receipt *receipt, bool good)
{
	if (!receipt)
		return;
	pthread_mutex_lock(&receipt->lock);
	receipt->lost |= !good;
	end_part(receipt);
	pthread_mutex_unlock(&receipt->lock);
	receipt_unref(receipt);
}
