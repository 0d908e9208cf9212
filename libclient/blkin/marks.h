/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of a span's text for what Zipkin has no word for, besides those of span.h. They begin with '#' and a
 * character that is no small letter:
 *
 *     tag                   #\ATTRIBUTE
 *     annotation            #@+NANOSECONDS=TEXT            ('-' for what was before the start)
 *       its attribute       #+ATTRIBUTE                    (of the last one, as of links)
 *     link                  #>TRACE-SPAN-FLAGS=TRACESTATE  (in 32, 16 and 8 hex digits)
 *       its attribute       #*ATTRIBUTE
 *     of the resource       #:ATTRIBUTE, #!resource-schema=TEXT
 *     of the scope          #%ATTRIBUTE, #!scope=TEXT, #!version=TEXT, #!scope-schema=TEXT
 *     status                #!status=ok, unset or error, and perhaps a blank and TEXT
 *     trace state           #!state=TEXT
 *     what was left out     #!dropped=TAGS,ANNOTATIONS,LINKS
 *     wall clock at start   #!time=NANOSECONDS  (since 1970: all times of the span are relative to it)
 *     an SDK's span         #!sdk=FLAGS  (its resource and tags are all that there is; OTLP's flags)
 *
 * An ATTRIBUTE is a letter for its type ('t' text, 'i' whole number, 'd' floating-point number, 'b' true or
 * false, 'n' none), its key, '=', its value. A list has '[' before the letter, and a comma behind each of its
 * values. In keys and texts, \n is a line break, \0 NUL, \\ a backslash, \e in a key '=', and \c in a list's
 * text a comma.
 *
 * Lines that do not fit into the event come before it in others, blkin:tag with the key "#~NUMBER+START":
 * NUMBER counts from 1, START is the span's, and the value is the lines, so many as there are bytes for; '-'
 * instead of '+' if the first of them goes on what the piece before ended with. Together they are what stood
 * behind the head.
 *
 * Not for programs: names may change. <blkin/details.h> is what they call.
 */
#ifndef BLKIN_MARKS_H_
#define BLKIN_MARKS_H_

#include <blkin/span.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The longest key of a piece: its two numbers. */
#define BLKIN_PIECE_KEY_ (2 + 20 + 1 + 20 + 1)

/* What stands behind the backslash for a character of a text; 0: it is itself. */
static inline char blkin_escape_(char c)
{
	switch (c) {
	case '\n':
		return 'n';
	case '\0':
		return '0';
	case '\\':
		return '\\';
	default:
		return 0;
	}
}

/* Writes a piece's key. */
static inline void blkin_put_piece_key_(char *to, uint32_t number, int goes_on, uint64_t start)
{
	*to++ = '#';
	*to++ = '~';
	to = blkin_put_number_(to, number);
	*to++ = goes_on ? '-' : '+';
	to = blkin_put_number_(to, start);
	*to = '\0';
}

/* Writes the lines so far as a piece; the text is empty then. */
static inline BLKIN_RARE_ void blkin_span_flush_(struct blkin_span *span)
{
	char key[BLKIN_PIECE_KEY_];

	if (span->used == span->lines)
		return;
	blkin_put_piece_key_(key, ++span->flushed, span->goes_on, span->record.start);
	span->goes_on = span->text[span->used - 1] != '\n';
	span->text[span->used] = '\0';
	blkin_span_piece_(span, 0, key, span->text + span->lines);
	span->used = span->lines;
}

/* Appends bytes of a line, which may be any number. If another thread shortens the text meanwhile, there is
 * no NUL in it all the same: the events behind it would not be found. */
static inline void blkin_span_put_bytes_(struct blkin_span *span, const char *bytes, size_t size)
{
	while (size) {
		size_t room = span->lines + BLKIN_SPAN_TEXT - span->used, part = size < room ? size : room;
		char *at = span->text + span->used, *end = at + part;

		memcpy(at, bytes, part);
		for (; (at = (char *)memchr(at, '\0', (size_t)(end - at))); at++)
			*at = ' ';
		span->used += (uint32_t)part;
		bytes += part;
		size -= part;
		if (size)
			blkin_span_flush_(span);
	}
}

/* Appends a text with its escapes, and another one: if @other is not 0, for it stands a backslash and
 * @letter. */
static inline void blkin_span_put_escaped_(struct blkin_span *span, const char *text, char other, char letter)
{
	const char *from = text;

	for (; *text; text++) {
		char escape[2] = {'\\', other && *text == other ? letter : blkin_escape_(*text)};

		if (!escape[1])
			continue;
		blkin_span_put_bytes_(span, from, (size_t)(text - from));
		blkin_span_put_bytes_(span, escape, 2);
		from = text + 1;
	}
	blkin_span_put_bytes_(span, from, (size_t)(text - from));
}

/* What is left in the text begins with a line. */
static inline void blkin_span_close_line_(struct blkin_span *span)
{
	blkin_span_put_bytes_(span, "\n", 1);
	if (span->goes_on)
		blkin_span_flush_(span);
}

#ifdef __cplusplus
}
#endif

#endif
