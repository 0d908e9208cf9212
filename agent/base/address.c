/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/address.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <glib.h>

#define DIGITS "0123456789"
#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* The length of the IPv6 address at the start of @text, including its zone if there is one. */
static size_t span_ipv6(const char *text)
{
	size_t size = strspn(text, DIGITS "abcdefABCDEF:.");

	if (!memchr(text, ':', size))
		size = 0;
	else if (text[size] == '%')
		size += 1 + strspn(text + size + 1, DIGITS LETTERS "-._");
	return size;
}

bool address_parse(const char *text, struct address *address)
{
	bool bracket = text[0] == '[';
	const char *start = text + bracket, *rest;
	size_t size = bracket ? span_ipv6(start) : strspn(start, DIGITS LETTERS "-._");
	size_t digits;
	long number;

	rest = start + size;
	if (size == 0 || size >= sizeof(address->host) || (bracket && *rest++ != ']') || *rest++ != ':')
		return false;
	digits = strspn(rest, DIGITS);
	number = digits > 0 && digits <= 5 ? strtol(rest, NULL, 10) : 0;
	if (rest[digits] || number < 1 || number > UINT16_MAX)
		return false;
	memset(address, 0, sizeof(*address));
	memcpy(address->host, start, size);
	address->port = (uint16_t)number;
	return true;
}

static bool stands_already(const struct address *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (list[i].port == list[count].port && !g_ascii_strcasecmp(list[i].host, list[count].host))
			return true;
	return false;
}

size_t address_parse_list(const char *text, struct address *list)
{
	g_auto(GStrv) words = g_strsplit(text, ",", ADDRESSES_MAX + 1);
	size_t count = 0;

	for (; words[count]; count++)
		if (count == ADDRESSES_MAX || !address_parse(g_strstrip(words[count]), &list[count]) ||
			stands_already(list, count))
			return 0;
	return count;
}

void address_undot(struct address *address)
{
	size_t size = strlen(address->host);

	if (size > 1 && address->host[size - 1] == '.')
		address->host[size - 1] = '\0';
}

void address_print(const struct address *address, char *text)
{
	snprintf(text, ADDRESS_TEXT, strchr(address->host, ':') ? "[%s]:%u" : "%s:%u", address->host,
		address->port);
}

bool address_is_loopback(const struct address *address)
{
	return !strncmp(address->host, "127.", 4) || !strcmp(address->host, "::1") ||
	       !strcasecmp(address->host, "localhost");
}

bool address_is_any(const struct address *address)
{
	return !strcmp(address->host, "0.0.0.0") || !strcmp(address->host, "::") ||
	       !strcmp(address->host, "0");
}
