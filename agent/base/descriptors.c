/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* prlimit */
#include "base/descriptors.h"

#include <limits.h>
#include <stddef.h>
#include <sys/resource.h>

unsigned long descriptors_raise(unsigned long wanted)
{
	struct rlimit limit;

	if (prlimit(0, RLIMIT_NOFILE, NULL, &limit) != 0) /* the unit's filter denies setrlimit */
		return ULONG_MAX;
	if (limit.rlim_cur < wanted && limit.rlim_cur < limit.rlim_max) {
		struct rlimit more = limit;

		more.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
		if (prlimit(0, RLIMIT_NOFILE, &more, NULL) == 0)
			limit = more;
	}
	return limit.rlim_cur;
}
