/* SPDX-License-Identifier: BSD-2-Clause */
/* Base64 (RFC 4648, with padding), as Scribe's messages carry it. */
#ifndef NET_BASE64_H
#define NET_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of base64 that @size bytes become. */
#define BASE64_SIZE(size) (((size) + 2) / 3 * 4)

/* Writes BASE64_SIZE(@size) characters at @to; no NUL. */
void base64_encode(char *to, const uint8_t *from, size_t size);

/* The same in one way of several: the best that the CPU has is taken above. Apart, so that each is tested. */
enum base64_way { BASE64_PLAIN, BASE64_AVX2, BASE64_AVX512 };

/* Whether this CPU has it. */
bool base64_has(enum base64_way way);
void base64_encode_by(enum base64_way way, char *to, const uint8_t *from, size_t size);

#endif
