/* SPDX-License-Identifier: BSD-2-Clause */
#include "once.h"

void once_a(void)
{
	once_record("library a");
}
