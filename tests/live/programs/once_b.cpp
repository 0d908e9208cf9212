/* SPDX-License-Identifier: BSD-2-Clause */
#include "once.h"

extern "C" void once_b(void)
{
	once_record("library b");
}
