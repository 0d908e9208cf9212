/* SPDX-License-Identifier: BSD-2-Clause */
#include "once.h"

void once_plugin(void)
{
	once_record("plugin");
}
