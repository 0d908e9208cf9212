/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of the inputs: a line for each, with its key of [input] and what it speaks. Of it are made enum
 * input_type, their keys, and the table of protocols (inlet/inputs.c); who goes through the inputs, goes
 * through it.
 */
#ifndef CONFIG_INPUTTYPES_H
#define CONFIG_INPUTTYPES_H

/* clang-format off */
#define INPUT_TYPES(TYPE) \
	TYPE(SCRIBE, scribe, "scribe", "Scribe") \
	TYPE(OTLP_HTTP, otlp_http, "otlp", "OTLP over HTTP") \
	TYPE(OTLP_GRPC, otlp_grpc, "otlp-grpc", "OTLP over gRPC")
/* clang-format on */

#define INPUT_TYPE(upper, lower, key, speaks) INPUT_##upper,
enum input_type { INPUT_TYPES(INPUT_TYPE) INPUTS };
#undef INPUT_TYPE

/* The key of [input] that says where an input listens, and what it speaks there; by enum input_type. */
extern const char *const input_keys[INPUTS], *const input_speaks[INPUTS];

#endif
