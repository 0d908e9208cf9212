/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/event.h"

const char *const event_level_names[EVENT_LEVELS] = {
	"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug"};
