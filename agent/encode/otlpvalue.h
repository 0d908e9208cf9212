/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of OpenTelemetry's protocol (opentelemetry/proto/common/v1/common.proto), appended to a buffer: any
 * value, also lists and maps, whose sizes are known only at their ends.
 */
#ifndef ENCODE_OTLPVALUE_H
#define ENCODE_OTLPVALUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "core/text.h"

/* Begins a message within a message; returns what otlpvalue_close wants, when all of it is there. */
size_t otlpvalue_open(struct buffer *out, uint32_t field);
void otlpvalue_close(struct buffer *out, size_t begin);

/* A whole AnyValue, as @field of what it is in. */
void otlpvalue_bool(struct buffer *out, uint32_t field, bool value);
void otlpvalue_signed(struct buffer *out, uint32_t field, int64_t value);
void otlpvalue_real(struct buffer *out, uint32_t field, double value);
void otlpvalue_none(struct buffer *out, uint32_t field);

/* OTLP has signed numbers only: one that is too large for them becomes a text of its digits. */
void otlpvalue_unsigned(struct buffer *out, uint32_t field, uint64_t value);

/* A string; bytes, if it is not UTF-8. */
void otlpvalue_text(struct buffer *out, uint32_t field, struct text text);

/* The key of a KeyValue that was opened, which is UTF-8, with a prefix that may be empty. */
void otlpvalue_key(struct buffer *out, struct text prefix, struct text key);

#endif
