/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/trace/spanpart.h"

static const struct {
	const char *name, *label;
} parts[PARTS] = {
	[PART_CPU] = {"cpu", "running"},
	[PART_INTERRUPTED] = {"interrupted", "interrupted"},
	[PART_RUNNABLE] = {"runnable", "runnable"},
	[PART_DISK] = {"disk", "disk"},
	[PART_LOCK] = {"lock", "lock"},
	[PART_NETWORK] = {"network", "network"},
	[PART_SLEEP] = {"sleep", "asleep"},
	[PART_FAULT] = {"page_fault", "page faults"},
	[PART_OTHER] = {"other", "other waits"},
	[PART_UNKNOWN] = {"unknown", "unknown"},
};

const char *part_name(enum part part)
{
	return parts[part].name;
}

const char *part_label(enum part part)
{
	return parts[part].label;
}
