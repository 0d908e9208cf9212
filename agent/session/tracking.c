/* SPDX-License-Identifier: BSD-2-Clause */
#include "session/tracking.h"

#include <lttng/tracker.h>

#include "base/clock.h"
#include "session/tracing.h"
#include "session/wellness.h"

/* All are looked at in so many looks. */
#define TURNS 3

static const enum lttng_process_attr of_programs[] = {
	LTTNG_PROCESS_ATTR_VIRTUAL_PROCESS_ID,
	LTTNG_PROCESS_ATTR_VIRTUAL_USER_ID,
	LTTNG_PROCESS_ATTR_VIRTUAL_GROUP_ID,
};

static const enum lttng_process_attr of_kernel[] = {
	LTTNG_PROCESS_ATTR_PROCESS_ID,
	LTTNG_PROCESS_ATTR_VIRTUAL_PROCESS_ID,
	LTTNG_PROCESS_ATTR_USER_ID,
	LTTNG_PROCESS_ATTR_VIRTUAL_USER_ID,
	LTTNG_PROCESS_ATTR_GROUP_ID,
	LTTNG_PROCESS_ATTR_VIRTUAL_GROUP_ID,
};

/* Whether all are recorded, or LTTng does not say. */
static bool includes_all(const struct lttng_process_attr_tracker_handle *tracker)
{
	enum lttng_tracking_policy policy;

	return lttng_process_attr_tracker_handle_get_tracking_policy(tracker, &policy) !=
		       LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK ||
	       policy == LTTNG_TRACKING_POLICY_INCLUDE_ALL;
}

static int repair_one(const char *name, enum lttng_domain_type domain, enum lttng_process_attr attribute,
	const char **changed)
{
	struct lttng_process_attr_tracker_handle *tracker = NULL;
	int code = 0;

	if (lttng_session_get_tracker_handle(name, domain, attribute, &tracker) != LTTNG_OK)
		return 0;
	if (!includes_all(tracker)) {
		*changed = "it was told to record of some processes only";
		code = lttng_process_attr_tracker_handle_set_tracking_policy(
			tracker, LTTNG_TRACKING_POLICY_INCLUDE_ALL);
	}
	lttng_process_attr_tracker_handle_destroy(tracker);
	return code == LTTNG_PROCESS_ATTR_TRACKER_HANDLE_STATUS_OK ? 0 : -LTTNG_ERR_UNK;
}

/* LTTng's library asks the daemon twice for each, which is more than all else that is looked at. */
int tracking_repair(const struct config *config, const char *name, bool all, const char **changed)
{
	static size_t turn; /* guarded by the lock of tracing.h */
	/* whatever is asked of the kernel has the session daemon begin with it in a session that has none */
	bool kernel = config_reads_kernel(config) && wellness_kernel_answers(config->tracing_group);
	int64_t begun = clock_monotonic();
	int code = 0;

	turn = (turn + 1) % TURNS;
	for (size_t i = 0; i < G_N_ELEMENTS(of_programs) && code == 0; i++)
		if (all || i % TURNS == turn)
			code = repair_one(name, LTTNG_DOMAIN_UST, of_programs[i], changed);
	tracing_count_lost(begun);
	for (size_t i = 0; kernel && i < G_N_ELEMENTS(of_kernel) && code == 0; i++)
		if (all || i % TURNS == turn)
			code = repair_one(name, LTTNG_DOMAIN_KERNEL, of_kernel[i], changed);
	return code;
}
