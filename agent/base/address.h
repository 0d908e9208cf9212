/* SPDX-License-Identifier: BSD-2-Clause */
/* Where a server is, as the configuration writes it: HOST:PORT, [IPV6]:PORT, and lists of them. */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The most servers in a list. */
#define ADDRESSES_MAX 8

struct address {
	char host[256]; /* without brackets */
	uint16_t port;
};

/* Reads one; returns false if @text is not a valid address. */
bool address_parse(const char *text, struct address *address);

/*
 * Reads a list, separated by commas, into @list, of ADDRESSES_MAX. Returns how many there are, or 0 if one is
 * invalid or occurs twice, or there are too many.
 */
size_t address_parse_list(const char *text, struct address *list);

/* Whether it means this machine alone, by number or as `localhost`; and whether it means all of its
 * addresses. */
bool address_is_loopback(const struct address *address);
bool address_is_any(const struct address *address);

/*
 * Ends a name in full, as "collector.example.", without its dot: that is for looking it up, and certificates,
 * TLS (RFC 6066) and most servers of HTTP do not know it.
 */
void address_undot(struct address *address);

/* The reverse of address_parse; @text has at least 272 bytes. */
#define ADDRESS_TEXT 272
void address_print(const struct address *address, char *text);

#endif
