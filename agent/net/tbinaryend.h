/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a TBinary message ends that has no frame around it, as classic clients send it. What has come so far
 * is walked once, whatever pieces it comes in. Nothing is trusted.
 */
#ifndef NET_TBINARYEND_H
#define NET_TBINARYEND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Structs, lists and maps in each other. */
#define TBINARYEND_DEPTH 16

struct tbinaryend {
	size_t at;       /* walked so far */
	uint8_t pending; /* the type of the value that is next; 0: none */
	uint8_t depth;
	bool begun; /* behind the message's head */
	struct {
		uint8_t kind, key, value; /* types; of a list, `value` is that of its elements */
		uint64_t left;            /* keys and values, or elements, to come */
	} in[TBINARYEND_DEPTH];
};

enum tbinaryend_state { TBINARYEND_MORE, TBINARYEND_FOUND, TBINARYEND_BAD };

/* Goes on in the message that begins at @data, of which @size bytes are there; zero @end before the first
 * call. Once it is found, the message has end->at bytes. */
enum tbinaryend_state tbinaryend_find(struct tbinaryend *end, const uint8_t *data, size_t size);

#endif
