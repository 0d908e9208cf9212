/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reply to Scribe's Log(), read in both of TBinary's header forms, as the classic Scribe server answers
 * in the old one, without version. Everything in it is untrusted.
 *
 *     OK                 it took the spans
 *     TRY_LATER          not now
 *     an exception       it does not take these; its words say why
 */
#ifndef NET_SCRIBEREPLY_H
#define NET_SCRIBEREPLY_H

#include "net/wire.h"

/* As a wire's get_reply; but the wanted traces are borrowed from @data. */
enum reply_kind scribereply_read(const uint8_t *data, size_t size, struct reply *reply);

#endif
