/* SPDX-License-Identifier: BSD-2-Clause */
#include "once.h"

void once_unit(void)
{
	once_record("second unit");
}
