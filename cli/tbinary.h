/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Thrift's TBinary, looked over before anything acts on it.
 *
 * The code that Thrift generates for c_glib trusts what it reads: it allocates what a length says, takes a
 * list's elements for what the IDL says rather than the wire, and frees a field that comes twice in the wrong
 * way. So bytes from a peer are walked here first; what passes, the generated code reads safely.
 */
#ifndef TBINARY_H
#define TBINARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tbinary_type {
	TBINARY_STOP = 0,
	TBINARY_BOOL = 2,
	TBINARY_BYTE = 3,
	TBINARY_DOUBLE = 4,
	TBINARY_I16 = 6,
	TBINARY_I32 = 8,
	TBINARY_I64 = 10,
	TBINARY_STRING = 11,
	TBINARY_STRUCT = 12,
	TBINARY_MAP = 13,
	TBINARY_SET = 14,
	TBINARY_LIST = 15
};

/*
 * What the reader knows of a struct: the fields that it takes. A field of another id or type is one that it
 * skips; it has to be sound all the same.
 */
struct tbinary_field {
	int16_t id;
	uint8_t type;
	const struct tbinary_struct *of; /* of a struct, and of a list of structs */
	uint32_t max;                    /* elements of a list */
};

struct tbinary_struct {
	const char *name;
	const struct tbinary_field *fields; /* 64 at most */
	size_t count;
};

/*
 * Walks the struct at the start of @data. Returns its size in bytes, or 0 having written to @error (of
 * @error_size bytes) what is wrong with it and where.
 */
size_t tbinary_check(
	const void *data, size_t size, const struct tbinary_struct *of, char *error, size_t error_size);

/* What stands before a message's struct. */
struct tbinary_message {
	char method[64];
	uint8_t type; /* 1 call, 2 reply, 3 exception, 4 oneway */
	int32_t seqid;
	size_t size; /* of the header, in bytes */
};

/* Reads a message's header, strict or not. Returns false having written to @error what is wrong. */
bool tbinary_read_message(
	const void *data, size_t size, struct tbinary_message *message, char *error, size_t error_size);

#endif
