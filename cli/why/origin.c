/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE
#include "why/origin.h"

#include <string.h>

#include <glib.h>

/* It stands before all events, of which there may be thousands. */
#define BEGINNING (64 << 10)

struct part {
	const char *at, *end;
};

/* What stands between @name " {" and "}", empty if there is none. */
static struct part find_block(struct part text, const char *name)
{
	g_autofree char *begin = g_strconcat("\n", name, " {", NULL);
	struct part block = {0};

	block.at = memmem(text.at, (size_t)(text.end - text.at), begin, strlen(begin));
	if (!block.at)
		return block;
	block.at += strlen(begin);
	block.end = memchr(block.at, '}', (size_t)(text.end - block.at));
	return block.end ? block : (struct part){0};
}

/* The text in quotes of a member; nothing of one that is too long. */
static void take_member(struct part block, const char *name, char *value, size_t size)
{
	g_autofree char *begin = g_strconcat("\t", name, " = \"", NULL);
	const char *at = block.at ? memmem(block.at, (size_t)(block.end - block.at), begin, strlen(begin))
				  : NULL,
		   *end;

	*value = '\0';
	if (!at)
		return;
	at += strlen(begin);
	end = memchr(at, '"', (size_t)(block.end - at));
	if (end && (size_t)(end - at) < size)
		g_strlcpy(value, at, (size_t)(end - at) + 1);
}

struct origin origin_read(const char *folder)
{
	g_autofree char *path = g_build_filename(folder, "metadata", NULL);
	g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, NULL);
	struct part text = {0}, env, clock;
	struct origin origin = {0};
	char domain[16];

	text.at = file ? g_mapped_file_get_contents(file) : NULL;
	if (!text.at)
		return origin;
	text.end = text.at + MIN(g_mapped_file_get_length(file), (gsize)BEGINNING);
	env = find_block(text, "env");
	clock = find_block(text, "clock");
	take_member(env, "hostname", origin.host, sizeof(origin.host));
	take_member(env, "domain", domain, sizeof(domain));
	take_member(clock, "uuid", origin.clock, sizeof(origin.clock));
	origin.kernel = !strcmp(domain, "kernel");
	return origin;
}
