/* SPDX-License-Identifier: BSD-2-Clause */
/* A keyed hash of short texts, SipHash-2-4: who does not have the key can make none that is right. */
#ifndef BASE_SIPHASH_H
#define BASE_SIPHASH_H

#include <stddef.h>
#include <stdint.h>

#define SIPHASH_KEY_SIZE 16

uint64_t siphash(const uint8_t key[SIPHASH_KEY_SIZE], const void *data, size_t size);

#endif
