/* SPDX-License-Identifier: BSD-2-Clause */
/* A library that is preloaded before LTTng's, and has a fork of its own, as some sanitizers and profilers
 * have. */
#include <dlfcn.h>
#include <unistd.h>

__attribute__((visibility("default"))) pid_t fork(void)
{
	pid_t (*next)(void);

	*(void **)&next = dlsym(RTLD_NEXT, "fork");
	return next();
}
