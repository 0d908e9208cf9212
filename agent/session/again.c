/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/again.h"

#include "base/clock.h"

/* What LTTng refuses is asked for again so often, */
#define AGAIN_NS (60 * NS_PER_SECOND)
/* and if it is only that the kernel's modules are missing, so often. */
#define AGAIN_MISSING_NS (600 * NS_PER_SECOND)

static bool is_due(const struct problem *problem, int64_t asked, int64_t now)
{
	return problem->reason != REASON_NONE &&
	       now - asked >= (problem->reason == REASON_KERNEL_MISSING ? AGAIN_MISSING_NS : AGAIN_NS);
}

struct anew again_due(const struct omissions *omissions, const struct asked *asked, int64_t now)
{
	return (struct anew){is_due(&omissions->events, asked->events, now),
		is_due(&omissions->kernel, asked->kernel, now)};
}
