/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether LTTng understands a filter expression. */
#ifndef TRYFILTER_H
#define TRYFILTER_H

#include <stdbool.h>
#include <stddef.h>

/* Asks LTTng's library, for which no daemon needs to run; if not, @why says so. */
bool filter_try(const char *filter, char *why, size_t size);

#endif
