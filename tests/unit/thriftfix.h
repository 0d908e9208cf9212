/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fixes a type of Thrift's: its finalizers, up to 0.19 at the least, do not call GObject's, which leaks some
 * memory with each object, and would hide what else leaks. Cheap from the second call.
 */
#ifndef THRIFTFIX_H
#define THRIFTFIX_H

#include <glib-object.h>

void thrift_fix_type(GType type);

#endif
