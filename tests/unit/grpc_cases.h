/* SPDX-License-Identifier: BSD-2-Clause */
/* The cases of test_grpc, by file. */
#ifndef GRPC_CASES_H
#define GRPC_CASES_H

#include <check.h>

/* Calls that are refused. */
TCase *grpc_refusals(void);

/* Peers that speak no gRPC, or mean harm. */
TCase *grpc_floods(void);

#endif
