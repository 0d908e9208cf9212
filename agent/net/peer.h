/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who is at the other end of a connection, as far as the kernel can tell: on this node a user, from
 * elsewhere an address. That is what a share of something may be given to.
 */
#ifndef NET_PEER_H
#define NET_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Without gaps, so that it can be compared byte by byte. */
struct peer {
	uint32_t is_user;
	uint32_t user;       /* if so: its number */
	uint8_t address[16]; /* if not: IPv4 in IPv6; of IPv6 the network, which is one place: /64 */
};

/* Of a connection @fd that was accepted from @address. */
void peer_identify(int fd, const struct sockaddr *address, struct peer *peer);

/* "user 1001", "10.1.0.7", or of IPv6 the network, "2001:db8::/64"; */
#define PEER_TEXT 64
void peer_print(const struct peer *peer, char text[PEER_TEXT]);

/* the same with the port, as logs have it. */
void peer_print_connection(const struct sockaddr *address, const struct peer *peer, char text[PEER_TEXT]);

#endif
