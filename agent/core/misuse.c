/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/misuse.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/sanitize.h"

void misuse_note(struct misuses *misuses, enum misuse_kind kind, const struct event *event,
	struct text service, struct text span, const char *what, ...)
{
	struct misuse *misuse = &misuses->of[kind];
	va_list arguments;

	if (!misuse_wanted(misuses, kind))
		return;
	misuses->fresh |= 1u << kind;
	misuse->has_user = event->has_user;
	misuse->user = event->user;
	words_copy(misuse->service, sizeof(misuse->service), (const uint8_t *)service.data, service.size);
	words_copy(misuse->span, sizeof(misuse->span), (const uint8_t *)span.data, span.size);
	va_start(arguments, what);
	vsnprintf(misuse->what, sizeof(misuse->what), what, arguments);
	va_end(arguments);
}
