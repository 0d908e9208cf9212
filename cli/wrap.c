/* SPDX-License-Identifier: BSD-2-Clause */
#include "wrap.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <glib.h>

/* On a screen that is narrower no word would fit. */
#define WIDTH_MIN 40
/* A label is no longer. */
#define LABEL_MAX 16

size_t wrap_width(FILE *out)
{
	struct winsize size;

	if (!isatty(fileno(out)) || ioctl(fileno(out), TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		return WRAP_DEFAULT;
	return MAX(size.ws_col, WIDTH_MIN);
}

/* The column where the words begin, and so do the lines that go on with them. */
static size_t indent_of(const char *line)
{
	size_t begin = strspn(line, " "), label = 0;

	if (g_str_has_prefix(line + begin, "-> "))
		return begin + strlen("-> ");
	while (label < LABEL_MAX && line[begin + label] && strncmp(line + begin + label, "  ", 2) != 0)
		label++;
	if (label == LABEL_MAX || !line[begin + label])
		return begin;
	return begin + label + strspn(line + begin + label, " ");
}

static size_t columns(const char *from, const char *to)
{
	return (size_t)g_utf8_strlen(from, to - from);
}

/* The last space up to which the line fits; if not even a word does, the first behind that; NULL: none. */
static const char *find_break(const char *words, size_t room)
{
	const char *at = strchr(words, ' '), *last = NULL;

	while (at && (!last || columns(words, at) <= room)) {
		last = at;
		at = strchr(at + 1, ' ');
	}
	return last;
}

static void print_line(FILE *out, const char *line, size_t width)
{
	size_t indent = indent_of(line);
	const char *words = line + indent, *end;

	fwrite(line, 1, indent, out);
	while (columns(words, words + strlen(words)) + indent > width &&
		(end = find_break(words, width > indent ? width - indent : 0))) {
		fwrite(words, 1, (size_t)(end - words), out);
		fprintf(out, "\n%*s", (int)indent, "");
		words = end + strspn(end, " ");
	}
	fprintf(out, "%s\n", words);
}

void wrap_print(FILE *out, const char *text, size_t width)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line && (line[1] || **line); line++)
		print_line(out, *line, width);
}
