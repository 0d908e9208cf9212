/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Items of OTLP: how a span, or a record of a log, goes from its encoder (encode/otlp.h, encode/eventotlp.h)
 * to the request. Numbers are big-endian. One that the agent made up is
 *     u32  bytes up to the Span
 *     u32  the process's pid; 0: unknown
 *          the resource's attributes that the program knows, as fields 1 of a Resource
 *          a Span
 * and there are such in spools that older versions wrote. One that goes on as its SDK sent it is
 *     u32  bytes up to the Span, and OTLPITEM_WHOLE
 *     u32  bytes of the process
 *          the process: a ResourceSpans, but for its spans
 *          the scope: a ScopeSpans, but for its spans
 *          a Span
 */
#ifndef NET_OTLPITEM_H
#define NET_OTLPITEM_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define OTLPITEM_HEAD 8
#define OTLPITEM_WHOLE (UINT32_C(1) << 31) /* an item is never so large */

struct otlpitem {
	const uint8_t *process, *scope, *span;
	uint32_t process_size, scope_size;
	size_t span_size;
	uint32_t pid;
	bool whole; /* as its SDK sent it; or else it has a pid, and no scope */
};

static inline uint32_t otlpitem_u32(const uint8_t *from)
{
	uint32_t number;

	memcpy(&number, from, sizeof(number));
	return be32toh(number);
}

/* It borrows; false if it is none. */
static inline bool otlpitem_read(struct otlpitem *item, const uint8_t *bytes, size_t size)
{
	uint32_t first = size >= OTLPITEM_HEAD ? otlpitem_u32(bytes) : 0, head = first & ~OTLPITEM_WHOLE,
		 second = size >= OTLPITEM_HEAD ? otlpitem_u32(bytes + 4) : 0;

	if (head < OTLPITEM_HEAD || head > size)
		return false;
	*item = (struct otlpitem){.process = bytes + OTLPITEM_HEAD,
		.process_size = head - OTLPITEM_HEAD,
		.span = bytes + head,
		.span_size = size - head,
		.pid = second};
	if (!(first & OTLPITEM_WHOLE))
		return true;
	if (second > item->process_size)
		return false;
	item->whole = true;
	item->pid = 0;
	item->scope = item->process + second;
	item->scope_size = item->process_size - second;
	item->process_size = second;
	return true;
}

static inline uint8_t *otlpitem_put_u32(uint8_t *to, uint32_t number)
{
	number = htobe32(number);
	memcpy(to, &number, sizeof(number));
	return to + sizeof(number);
}

#endif
