/* SPDX-License-Identifier: BSD-2-Clause */
/* What the kernel has to be recorded, by name: LTTng takes any name, and records nothing for one that it does
 * not know. */
#ifndef SESSION_KERNELNAMES_H
#define SESSION_KERNELNAMES_H

#include <glib.h>
#include <lttng/lttng.h>

#include "config/config.h"

struct kernelnames {
	GPtrArray *events, *syscalls; /* of const char *; NULL if LTTng does not tell */
	struct lttng_event *listed[2];
};

/* Asks the tracer, for its system calls only if some are wanted: 0, or a negative code that says why there is
 * none, or why it may not be used. To be freed in any case. @handle is of the kernel's domain. */
int kernelnames_ask(struct kernelnames *names, struct lttng_handle *handle, const struct config *config);
void kernelnames_free(struct kernelnames *names);

/* The kernel's functions, by @path, a list as /proc/kallsyms is; NULL if that does not tell. To be unreffed.
 */
GPtrArray *kernelnames_functions(const char *path);

/* For each of the names and patterns of @globs that stands for none of @names a sentence that says so, and
 * what may be meant. To be unreffed. */
GPtrArray *kernelnames_unknown(const GPtrArray *names, const char *globs);

#endif
