/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether the kernel has what [kernel] names: LTTng takes any name, and records nothing for one that it does
 * not know. */
#ifndef SESSION_KERNELNAMES_H
#define SESSION_KERNELNAMES_H

#include <glib.h>
#include <lttng/lttng.h>

/* The first of @wanted (struct rule) that stands for nothing of this kernel; its name belongs to @wanted.
 * NULL if there is none, or if LTTng does not tell. @handle is of the kernel's domain. */
const char *kernelnames_missing(struct lttng_handle *handle, const GPtrArray *wanted);

#endif
