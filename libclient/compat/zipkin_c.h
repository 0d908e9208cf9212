/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * BlkKin's zipkin_c.h, as in ceph/blkin, for programs that were written against it: they compile unchanged
 * with the flags that `pkg-config --cflags --libs blkin-classic` prints.
 *
 * The calls are those of <blkin/classic.h>. This header adds what only old programs need: Zipkin's core
 * annotations under global names, and the macros with their semicolon included.
 *
 * The differences from BlkKin are corrections: ids do not collide after fork; an annotation's own endpoint is
 * recorded, and the trace's only if it has none; an endpoint without an address has the address "".
 *
 * BlkKin of 2014 had other structs under the same names: its programs include <blkin-front.h>. With
 * -DBLKIN_CLASSIC_2014 (pkg-config blkin-2014) this header and ztracer.hpp define those too.
 *
 * The functions are static: a file that declares them itself, instead of including a header, does not link.
 */
#ifndef BLKIN_COMPAT_ZIPKIN_C_H_
#define BLKIN_COMPAT_ZIPKIN_C_H_

#ifdef BLKIN_CLASSIC_2014
#include "blkin-front.h"
#endif

#ifndef BLKIN_FRONT_H_

/* An old C++ program may include this within its own extern "C". */
#ifdef __cplusplus
extern "C++" {
#endif
#include <blkin/classic.h>
#ifdef __cplusplus
}
#endif

#undef BLKIN_TIMESTAMP
#undef BLKIN_KEYVAL
#undef BLKIN_KEYVAL_STRING
#undef BLKIN_KEYVAL_INTEGER
/* clang-format off */
#define BLKIN_TIMESTAMP(trace, endp, event)                                                                  \
	BLKIN_RECORD_(trace, blkin_init_timestamp_annotation(&blkin_annotation_, event, endp));
#define BLKIN_KEYVAL_STRING(trace, endp, key, val)                                                           \
	BLKIN_RECORD_(trace, blkin_init_string_annotation(&blkin_annotation_, key, val, endp));
#define BLKIN_KEYVAL_INTEGER(trace, endp, key, val)                                                          \
	BLKIN_RECORD_(trace, blkin_init_integer_annotation(&blkin_annotation_, key, val, endp));
#define BLKIN_KEYVAL(trace, endp, key, val) BLKIN_KEYVAL_STRING(trace, endp, key, val)
/* clang-format on */

#ifdef __cplusplus
extern "C" {
#endif

extern const char *const CLIENT_SEND BLKIN_ONE_PER_MODULE_;
extern const char *const CLIENT_RECV BLKIN_ONE_PER_MODULE_;
extern const char *const SERVER_SEND BLKIN_ONE_PER_MODULE_;
extern const char *const SERVER_RECV BLKIN_ONE_PER_MODULE_;
extern const char *const WIRE_SEND BLKIN_ONE_PER_MODULE_;
extern const char *const WIRE_RECV BLKIN_ONE_PER_MODULE_;
extern const char *const CLIENT_SEND_FRAGMENT BLKIN_ONE_PER_MODULE_;
extern const char *const CLIENT_RECV_FRAGMENT BLKIN_ONE_PER_MODULE_;
extern const char *const SERVER_SEND_FRAGMENT BLKIN_ONE_PER_MODULE_;
extern const char *const SERVER_RECV_FRAGMENT BLKIN_ONE_PER_MODULE_;

const char *const CLIENT_SEND = "cs";
const char *const CLIENT_RECV = "cr";
const char *const SERVER_SEND = "ss";
const char *const SERVER_RECV = "sr";
const char *const WIRE_SEND = "ws";
const char *const WIRE_RECV = "wr";
const char *const CLIENT_SEND_FRAGMENT = "csf";
const char *const CLIENT_RECV_FRAGMENT = "crf";
const char *const SERVER_SEND_FRAGMENT = "ssf";
const char *const SERVER_RECV_FRAGMENT = "srf";

#ifdef __cplusplus
}
#endif

#endif /* BLKIN_FRONT_H_ */

#endif
