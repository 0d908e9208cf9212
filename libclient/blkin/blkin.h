/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BlkKin: record Dapper spans from C and C++ programs, through LTTng-UST, for blkin-agent to deliver to
 * Zipkin.
 *
 * This header is all that a program needs: nothing to link, nothing to initialise. C11 and C++17, GCC and
 * Clang.
 *
 *   <blkin/span.h>     the span API, for new programs
 *   <blkin/tags.h>     tags of every type
 *   <blkin/details.h>  links, annotations with attributes, lists, a status
 *   <blkin/given.h>    spans under given ids, from a time that is past
 *   <blkin/context.h>  a trace's ids in requests, packed; <blkin/b3.h>, <blkin/w3c.h> as headers
 *   <blkin/classic.h>  BlkKin's classic calls: an event for each annotation, at once
 */
#ifndef BLKIN_BLKIN_H_
#define BLKIN_BLKIN_H_

#include <blkin/b3.h>
#include <blkin/classic.h>
#include <blkin/context.h>
#include <blkin/details.h>
#include <blkin/given.h>
#include <blkin/span.h>
#include <blkin/tags.h>
#include <blkin/w3c.h>

#endif
