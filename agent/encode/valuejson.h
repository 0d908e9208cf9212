/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of tags as JSON, for formats that have texts alone. */
#ifndef ENCODE_VALUEJSON_H
#define ENCODE_VALUEJSON_H

#include "base/buffer.h"
#include "core/span.h"

/* Appends an object of them: bytes in base64, null for none. What is damaged within one is left out. */
void valuejson_object(struct buffer *out, const struct attributes *attributes);

/* Appends the value as the text that it is by itself: of a list or a map JSON, of bytes base64. */
void valuejson_text(struct buffer *out, const struct tag *value);

#endif
