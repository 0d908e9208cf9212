/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads structs with the code that Thrift generates for c_glib, directly from the given bytes. Thrift's own
 * memory buffer moves all remaining bytes at every read, so its time grows with the square of a message's
 * size.
 */
#ifndef SPANS_THRIFT_READER_H
#define SPANS_THRIFT_READER_H

#include <stddef.h>

#include <thrift/c_glib/thrift_struct.h>

/*
 * Reads a struct of the generated type @type from @size bytes at @data, which tbinary_check has passed.
 * Returns it, which the caller unrefs, or NULL if the generated code does not accept it.
 */
void *thrift_read_struct(GType type, const void *data, size_t size);

/*
 * Fixes a type: Thrift's finalizers, up to 0.19 at the least, do not call GObject's, which leaks some memory
 * with each object. thrift_read_struct fixes the type that it reads; the types within it are the caller's to
 * fix. Cheap from the second call.
 */
void thrift_fix_type(GType type);

#endif
