/* SPDX-License-Identifier: BSD-2-Clause */
#include "core/iptext.h"

#include <arpa/inet.h>
#include <string.h>

/* By hand, as printf takes longer than all the rest of a span. */
static char *put_byte(char *to, unsigned byte)
{
	if (byte >= 100)
		*to++ = (char)('0' + byte / 100);
	if (byte >= 10)
		*to++ = (char)('0' + byte / 10 % 10);
	*to++ = (char)('0' + byte % 10);
	return to;
}

char *iptext_put(char *to, const struct endpoint *endpoint)
{
	if (endpoint->address_size == 16) {
		inet_ntop(AF_INET6, endpoint->address, to, IPTEXT_MAX);
		return to + strlen(to);
	}
	for (int i = 0; i < 4; i++) {
		to = put_byte(to, endpoint->address[i]);
		*to++ = '.';
	}
	return to - 1;
}

/* In its parts, which are decimal, zeros may lead: Zipkin reads those, and inet_pton does not. */
static void drop_zeros(char *address)
{
	char *to = address;
	bool begins = true;

	for (const char *at = address; *at; at++) {
		if (!(begins && *at == '0' && at[1] >= '0' && at[1] <= '9')) {
			begins = *at == '.';
			*to++ = *at;
		}
	}
	*to = '\0';
}

bool iptext_read(struct endpoint *endpoint, struct text text)
{
	char address[IPTEXT_MAX + 1];

	if (text.size > IPTEXT_MAX)
		return false;
	memcpy(address, text.data, text.size);
	address[text.size] = '\0';
	endpoint->address_size = 0;
	if (!memchr(address, ':', text.size))
		drop_zeros(address);
	if (inet_pton(AF_INET, address, endpoint->address) == 1)
		endpoint->address_size = 4;
	else if (inet_pton(AF_INET6, address, endpoint->address) == 1)
		endpoint->address_size = 16;
	return endpoint->address_size != 0;
}
