/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a span takes place: Zipkin's endpoint, in BlkKin's struct. */
#ifndef BLKIN_ENDPOINT_H_
#define BLKIN_ENDPOINT_H_

#include <stdint.h>

/**
 * struct blkin_endpoint - a service and its address
 * @ip: IPv4 or IPv6 address as text; NULL if unknown
 * @port: port in host order; one above 32767 is written as its 16 bits, (int16_t)port
 * @name: service name
 *
 * The strings are borrowed: they must live as long as spans use the endpoint.
 */
struct blkin_endpoint {
	const char *ip;
	int16_t port;
	const char *name;
};

#endif
