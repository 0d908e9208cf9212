/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* struct ucred */
#include "net/peer.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

/* A network of IPv6 that one place has whole. */
#define NETWORK_BYTES 8

struct question {
	struct nlmsghdr head;
	struct inet_diag_req_v2 of;
};

/* IPv4 as it stands in IPv6. */
static struct in6_addr address_of(const struct sockaddr *at, uint16_t *port)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)at;
	const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)at;
	struct in6_addr address = {.s6_addr = {[10] = 0xff, [11] = 0xff}};

	if (at->sa_family == AF_INET6) {
		*port = in6->sin6_port;
		return in6->sin6_addr;
	}
	*port = in->sin_port;
	memcpy(address.s6_addr + 12, &in->sin_addr, 4);
	return address;
}

/* Asks the kernel for the sender's socket, which is one of this node's. */
static bool ask(int netlink, const struct question *question, struct inet_diag_msg *found)
{
	struct {
		struct nlmsghdr head;
		struct inet_diag_msg is;
		char more[1024];
	} answer;
	ssize_t size;

	if (send(netlink, question, sizeof(*question), 0) != sizeof(*question))
		return false;
	size = recv(netlink, &answer, sizeof(answer), MSG_DONTWAIT);
	if (size < (ssize_t)NLMSG_LENGTH(sizeof(*found)) || answer.head.nlmsg_type != SOCK_DIAG_BY_FAMILY)
		return false;
	*found = answer.is;
	return true;
}

static void put_address(const struct in6_addr *from, bool v4, __be32 to[4])
{
	if (v4)
		memcpy(to, from->s6_addr + 12, 4);
	else
		memcpy(to, from->s6_addr, 16);
}

/*
 * Whose socket of this node is connected from @from to @to. One that its owner has closed belongs to nobody
 * any more, which the kernel reports as root's: it has no inode.
 */
static bool find_owner(const struct in6_addr *from, uint16_t from_port, const struct in6_addr *to,
	uint16_t to_port, uint32_t *user)
{
	const bool v4 = IN6_IS_ADDR_V4MAPPED(from);
	struct question question = {.head = {.nlmsg_len = sizeof(question),
					    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
					    .nlmsg_flags = NLM_F_REQUEST},
		.of = {.sdiag_family = v4 ? AF_INET : AF_INET6,
			.sdiag_protocol = IPPROTO_TCP,
			.idiag_states = 1u << TCP_ESTABLISHED,
			.id = {.idiag_sport = from_port,
				.idiag_dport = to_port,
				.idiag_cookie = {INET_DIAG_NOCOOKIE, INET_DIAG_NOCOOKIE}}}};
	struct inet_diag_msg is;
	int netlink = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	bool found;

	if (netlink < 0)
		return false;
	put_address(from, v4, question.of.id.idiag_src);
	put_address(to, v4, question.of.id.idiag_dst);
	found = ask(netlink, &question, &is) && is.idiag_state == TCP_ESTABLISHED && is.idiag_inode;
	close(netlink);
	if (found)
		*user = is.idiag_uid;
	return found;
}

static bool is_loopback(const struct in6_addr *address)
{
	return IN6_IS_ADDR_LOOPBACK(address) ||
	       (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

/* Users of this node come from an address of its own: of loopback, or the one that they connect to. */
static bool find_user(int fd, const struct sockaddr *address, uint32_t *user)
{
	struct sockaddr_storage own = {0};
	socklen_t size = sizeof(own);
	struct in6_addr from, to;
	uint16_t from_port, to_port;

	if (getsockname(fd, (struct sockaddr *)&own, &size) != 0)
		return false;
	from = address_of(address, &from_port);
	to = address_of((struct sockaddr *)&own, &to_port);
	if (!is_loopback(&from) && memcmp(&from, &to, sizeof(from)) != 0)
		return false;
	return find_owner(&from, from_port, &to, to_port, user);
}

void peer_identify(int fd, const struct sockaddr *address, struct peer *peer)
{
	struct in6_addr from;
	struct ucred who;
	socklen_t size = sizeof(who);
	uint16_t port;

	*peer = (struct peer){.is_user = true};
	if (address->sa_family == AF_UNIX) {
		if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0)
			peer->user = who.uid;
		else
			*peer = (struct peer){0};
		return;
	}
	if (find_user(fd, address, &peer->user))
		return;
	from = address_of(address, &port);
	*peer = (struct peer){0};
	memcpy(peer->address, &from, IN6_IS_ADDR_V4MAPPED(&from) ? 16 : NETWORK_BYTES);
}

void peer_print(const struct peer *peer, char text[PEER_TEXT])
{
	struct in6_addr address;
	char ip[INET6_ADDRSTRLEN] = "?";
	bool v4;

	if (peer->is_user) {
		snprintf(text, PEER_TEXT, "user %u", peer->user);
		return;
	}
	memcpy(&address, peer->address, sizeof(address));
	v4 = IN6_IS_ADDR_V4MAPPED(&address);
	inet_ntop(v4 ? AF_INET : AF_INET6, peer->address + (v4 ? 12 : 0), ip, sizeof(ip));
	snprintf(text, PEER_TEXT, "%s%s", ip, v4 ? "" : "/64");
}

void peer_print_connection(const struct sockaddr *address, const struct peer *peer, char text[PEER_TEXT])
{
	char ip[INET6_ADDRSTRLEN] = "?";
	struct in6_addr from;
	uint16_t port;
	bool v4;

	if (address->sa_family == AF_UNIX) {
		peer_print(peer, text);
		return;
	}
	from = address_of(address, &port);
	v4 = address->sa_family == AF_INET;
	inet_ntop(address->sa_family, from.s6_addr + (v4 ? 12 : 0), ip, sizeof(ip));
	snprintf(text, PEER_TEXT, v4 ? "%s:%u" : "[%s]:%u", ip, ntohs(port));
}
