/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A Thrift transport that reads bytes where they lie. Thrift's own memory buffer moves all that is left at
 * every read, which makes the time to read a message grow with the square of its size.
 */
#ifndef BYTES_TRANSPORT_H
#define BYTES_TRANSPORT_H

#include <stddef.h>

#include <thrift/c_glib/thrift_struct.h>

/*
 * Reads a struct of the generated type @type from @size bytes at @data, which tbinary_check has passed.
 * Returns it, the caller's to unref, or NULL if the generated code does not take it.
 */
void *bytes_read_struct(GType type, const void *data, size_t size);

/*
 * Mends a type: what Thrift 0.17 has as finalizers does not call GObject's, which leaks some memory with each
 * object. bytes_read_struct mends the type that it reads; those within it are the caller's to mend. Cheap
 * from the second call.
 */
void bytes_mend_type(GType type);

#endif
