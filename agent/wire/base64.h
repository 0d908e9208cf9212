/* SPDX-License-Identifier: BSD-2-Clause */
/* Base64 (RFC 4648, with padding), as Scribe's messages carry it. */
#ifndef WIRE_BASE64_H
#define WIRE_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of base64 that @size bytes become. */
#define BASE64_SIZE(size) (((size) + 2) / 3 * 4)

/* Writes BASE64_SIZE(@size) characters at @to; no NUL. */
void base64_encode(char *to, const uint8_t *from, size_t size);

/* The same without special instructions of this CPU: what others run, so that it can be tested here. */
void base64_encode_plain(char *to, const uint8_t *from, size_t size);

#endif
