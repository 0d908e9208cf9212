/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The list of the types of output, in the order of the key `type`: a line for each, of which enum
 * config_output, the words of that key and both tables (config/outputtype.h, output/uplink/uplinktype.h) are
 * made.
 */
#ifndef CONFIG_OUTPUTTYPES_H
#define CONFIG_OUTPUTTYPES_H

/* clang-format off */
#define OUTPUT_TYPES(TYPE) \
	TYPE(SCRIBE, scribe) \
	TYPE(HTTP, http) \
	TYPE(OTLP, otlp) \
	TYPE(FILE, file) \
	TYPE(KAFKA, kafka) \
	TYPE(NONE, none)
/* clang-format on */

#endif
