/* SPDX-License-Identifier: BSD-2-Clause */
/* The thread that logged an event, where its trace tells. */
#ifndef READER_DECODE_THREAD_H
#define READER_DECODE_THREAD_H

#include <stdint.h>

#include <babeltrace2/babeltrace.h>

/* Its number, as the program sees it; -1 if the event has neither `vtid` nor `tid` for a context. */
int64_t thread_of(const bt_message *message);

/* The processor that its packet is of; -1 if that is not told. */
int64_t processor_of(const bt_message *message);

#endif
