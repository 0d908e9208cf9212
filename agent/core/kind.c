/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/kind.h"

const char *kind_name(enum kind kind)
{
	static const char *const names[KINDS] = {
		[KIND_SPANS] = "spans", [KIND_EVENTS] = "events", [KIND_MESSAGES] = "messages"};

	return names[kind];
}
