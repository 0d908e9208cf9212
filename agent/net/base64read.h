/* SPDX-License-Identifier: BSD-2-Clause */
/* Base64 as senders write it: line breaks, spaces and missing padding are fine, anything else is not. */
#ifndef NET_BASE64READ_H
#define NET_BASE64READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Appends what @size characters mean; false if they are no base64. */
bool base64_read(struct buffer *out, const char *from, size_t size);

#endif
