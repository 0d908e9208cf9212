/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/assemble/endpoint.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/memfind.h"
#include "reader/assemble/spannumber.h"

/* Reads dotted decimal by hand: inet_pton takes several times as long, and this runs for every span. */
static bool read_ipv4(struct text ip, uint8_t address[4])
{
	const char *at = ip.data, *end = ip.data + ip.size;

	for (int i = 0; i < 4; i++) {
		unsigned value = 0;
		int digits = 0;

		for (; at < end && *at >= '0' && *at <= '9' && digits < 4; at++, digits++)
			value = value * 10 + (unsigned)(*at - '0');
		if (digits == 0 || digits > 3 || value > 255)
			return false;
		address[i] = (uint8_t)value;
		if (i < 3 && (at == end || *at++ != '.'))
			return false;
	}
	return at == end;
}

void endpoint_set_address(struct endpoint *endpoint, struct text ip)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
	char text[INET6_ADDRSTRLEN];

	endpoint->address_size = 0;
	if (ip.size < 2 || ip.size >= sizeof(text))
		return;
	if (read_ipv4(ip, endpoint->address)) {
		endpoint->address_size = 4;
		return;
	}
	memcpy(text, ip.data, ip.size);
	text[ip.size] = '\0';
	if (inet_pton(AF_INET6, text, endpoint->address) != 1)
		return;
	endpoint->address_size = 16;
	if (memcmp(endpoint->address, mapped, sizeof(mapped)) == 0) { /* ::ffff:10.0.0.1 */
		memmove(endpoint->address, endpoint->address + 12, 4);
		endpoint->address_size = 4;
	}
}

bool endpoint_read(struct endpoint *endpoint, const char *at, const char *end)
{
	const char *space;
	uint64_t port;

	at = span_number_read(at, end, &port);
	if (!at || at == end || *at != ' ' || port > UINT16_MAX)
		return false;
	at++;
	space = find_near(at, end, ' ');
	if (!space)
		return false;
	endpoint_set_address(endpoint, (struct text){at, (uint32_t)(space - at)});
	endpoint->port = (uint16_t)port;
	endpoint->service = (struct text){space + 1, (uint32_t)(end - space - 1)};
	return true;
}
