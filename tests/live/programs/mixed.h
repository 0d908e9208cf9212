/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The program `mixed` and its libraries: one includes our header, another brings LTTng events of its own, as
 * the libraries of ceph and of 2014 do. Each records MIXED_SPANS spans with classic annotations: an event, a
 * text, a number; that of 2014 without the number, for which it had no event.
 */
#ifndef MIXED_H
#define MIXED_H

#define MIXED_SPANS 20
#define MIXED_EXPORT __attribute__((visibility("default")))

MIXED_EXPORT void mixed_ours(void);
MIXED_EXPORT void mixed_ceph(void);
MIXED_EXPORT void mixed_2014(void);

#endif
