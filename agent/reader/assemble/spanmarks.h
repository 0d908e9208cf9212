/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of a span's text that only newer clients write (blkin/marks.h): they begin with '#' and a
 * character that is no small letter, and say what Zipkin has no word for. What they say is struct span_more.
 */
#ifndef READER_ASSEMBLE_SPANMARKS_H
#define READER_ASSEMBLE_SPANMARKS_H

#include "reader/assemble/spanvalue.h"

/* Of one span after the other. Zero it first. */
struct span_marks {
	bool any;      /* the span has such a line, */
	bool used;     /* or a gap: there is something to clear */
	bool has_time; /* the wall clock's at the span's start, as the program read it: */
	bool left_out; /* an attribute of an annotation, or a link, that is not there */
	int64_t time;  /* ns since the epoch */
	struct span_more more;
	size_t first_annotation, first_link; /* of those that attributes may belong to */
	struct buffer texts;                 /* those without their escapes */
	struct buffer annotations;           /* struct range: which of the following are of each annotation */
	struct buffer nested;                /* struct tag: attributes of annotations */
	struct buffer links;                 /* struct marked_link */
	struct buffer of_links;              /* struct tag: their attributes */
	struct buffer scope, resource;       /* struct tag */
	struct buffer laid_out; /* struct attributes, struct span_link: as struct span_more has them */
};

/* What a line may add to outside. */
struct span_marks_lines {
	struct annotation *annotations; /* with room for one more, and so here: */
	size_t *annotation_count;
	struct tag *tags;
	size_t *tag_count;
	int64_t start;     /* the span's, ns since the epoch */
	size_t texts_room; /* how many bytes the lines have, from this one on */
};

/* Reads a line from its '#' up to its break, @end; false if it is none of these. It is borrowed. */
bool span_marks_read(
	struct span_marks *marks, const struct span_marks_lines *lines, const char *at, const char *end);

/* Some lines before the next one are missing: so attributes belong to nothing that is there. */
void span_marks_gap(struct span_marks *marks, size_t annotation_count);

/*
 * What the lines said, for a span with @count annotations, of which the first @before have come without
 * lines. It is valid until the next span.
 */
const struct span_more *span_marks_lay_out(struct span_marks *marks, size_t before, size_t count);

/* For the next span. */
void span_marks_clear(struct span_marks *marks);

void span_marks_free(struct span_marks *marks);

#endif
