/* SPDX-License-Identifier: BSD-2-Clause */
/* What a span says in the terms of formats that have a kind, and no core annotations. */
#ifndef ENCODE_TERMS_H
#define ENCODE_TERMS_H

#include "core/span.h"

/* A span's kind: of a classic one, what its first core annotation says. */
enum span_kind terms_kind(const struct span *span);

/* Whether the annotation is a core annotation of a classic span that says no more than the @kind and the
 * times do. */
bool terms_say(const struct span *span, enum span_kind kind, const struct annotation *annotation);

/* Whether the tag counts: of those with the same key, the last one does. Of very many, all do: whoever reads
 * them has the choice. */
bool terms_tag_counts(const struct span *span, size_t index);

#endif
