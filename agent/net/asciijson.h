/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * JSON in ASCII, for Zipkin. Zipkin 3.6 reads a compressed body in parts: of a character that is not ASCII,
 * where the end of a part falls within it, U+FFFD remains. An escape in its place means the same in any JSON.
 */
#ifndef NET_ASCIIJSON_H
#define NET_ASCIIJSON_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Appends JSON in UTF-8 to @out, with an escape, or a pair, for each character that is not ASCII. A byte that
 * is not UTF-8 becomes U+FFFD. */
void asciijson_put(struct buffer *out, const uint8_t *json, size_t size);

#endif
