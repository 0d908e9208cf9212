/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "encode/otlpjson.h"
#include "encode/spanread.h"

/* So many bytes are handed on at once. */
#define HAND_BYTES (256 * 1024)
/* A file with a longer line is none of spans: of these none is larger than a few MiB. */
#define LINE_MAX_BYTES (16 * 1024 * 1024)
/* So many bytes are read at once. */
#define READ_BYTES (256 * 1024)
/* Of one file, so many bad lines are named. */
#define NAMED_MAX 10

struct lines {
	const struct lines_sink *sink;
	struct lines_counts *counts;
	struct batch *spans;
	struct span_memory memory;
};

static void hand(struct lines *lines, bool at_once)
{
	const struct items spans = {.batch = lines->spans};
	struct ledger change = {0};

	change.row[SPANS_MADE] = lines->spans->count;
	lines->sink->hand(lines->sink->data, &change, &spans, at_once);
	batch_clear(lines->spans);
}

/* One that is too large is empty. */
static void add(void *data, const struct span *span)
{
	struct lines *lines = data;
	struct batch *spans = lines->spans;
	size_t before = spans->spans.size;

	record_put(&spans->spans, span);
	/* for the latency, it is from now on that it is on its way */
	batch_added(spans, spans->spans.size - before, clock_wall());
	lines->counts->spans++;
	if (spans->spans.size >= HAND_BYTES)
		hand(lines, false);
}

/* Returns whether all that it says is spans. */
static bool read_spans(struct lines *lines, const char *line, size_t size)
{
	const struct otlpjson_sink sink = {add, lines};
	struct span span;

	if (otlpjson_is(line, size))
		return otlpjson_read(line, size, &lines->memory, &sink);
	if (!spanread_json(&span, (const uint8_t *)line, size, &lines->memory))
		return false;
	add(lines, &span);
	return true;
}

/* Returns whether it is good, or empty. */
static bool read_line(struct lines *lines, const struct text *line)
{
	bool good;

	atomic_fetch_add(lines->sink->steps, 1);
	if (!line->size)
		return true;
	lines->counts->read++;
	good = read_spans(lines, line->data, line->size);
	lines->counts->bad += !good;
	return good;
}

/* NULL with errno: of what is no file, as a pipe, the end may never come. */
static FILE *open_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat is;

	if (fd < 0)
		return NULL;
	if (fstat(fd, &is) == 0 && S_ISREG(is.st_mode))
		return fdopen(fd, "r");
	close(fd);
	errno = EINVAL;
	return NULL;
}

/* A file, read in pieces. */
struct source {
	FILE *file;
	struct buffer bytes;
	size_t at; /* where the next line begins */
};

/* Reads more behind what is left; false at the end, or if the disk fails. */
static bool fill(struct source *from)
{
	size_t left = from->bytes.size - from->at, more;

	if (from->at)
		memmove(from->bytes.data, from->bytes.data + from->at, left);
	from->at = 0;
	from->bytes.size = left;
	more = fread(buffer_reserve(&from->bytes, READ_BYTES), 1, READ_BYTES, from->file);
	from->bytes.size += more;
	return more > 0;
}

/* The next line, without its end; false at the file's end, on an error, and with EFBIG in front of a line
 * that is too long. */
static bool next_line(struct source *from, struct text *line)
{
	size_t seen = 0, left;
	const uint8_t *begin, *end = NULL;

	do {
		left = from->bytes.size - from->at;
		if (left > LINE_MAX_BYTES) {
			errno = EFBIG;
			return false;
		}
		begin = from->bytes.data + from->at;
		end = left > seen ? memchr(begin + seen, '\n', left - seen) : NULL;
		seen = left;
	} while (!end && fill(from));
	begin = from->bytes.data + from->at;
	left = from->bytes.size - from->at;
	*line = (struct text){(const char *)begin, (uint32_t)(end ? (size_t)(end - begin) : left)};
	from->at += line->size + (end ? 1 : 0);
	return end || (line->size > 0 && !ferror(from->file));
}

/* Of a request of OTLP, the spans beside one that is none are taken. */
static void say_bad(const char *path, uint64_t number, uint64_t taken)
{
	if (taken)
		log_error("%s:%" PRIu64 ": %" PRIu64
			  " of this line's spans taken, the rest skipped, as it is not OTLP's",
			path, number, taken);
	else
		log_error("%s:%" PRIu64
			  ": skipped, as it is not a span in Zipkin's JSON of version 2 or in OTLP's",
			path, number);
}

static bool read_file(struct lines *lines, const char *path)
{
	struct source from = {.file = open_file(path)};
	uint64_t number = 0, bad = 0, before = lines->counts->spans;
	struct text line;
	bool good = false;

	while (from.file && !atomic_load(lines->sink->stop) && (errno = 0, next_line(&from, &line))) {
		number++;
		if (!read_line(lines, &line) && ++bad <= NAMED_MAX)
			say_bad(path, number, lines->counts->spans - before);
		before = lines->counts->spans;
	}
	if (bad > NAMED_MAX)
		log_error("%s: skipped: %" PRIu64 " more lines that are not spans", path, bad - NAMED_MAX);
	if (from.file && errno == EFBIG)
		log_error("%s:%" PRIu64 ": this line is longer than 16 MiB, so it is not a span: it and the "
			  "rest of the file are skipped",
			path, number + 1);
	else if (!from.file || ferror(from.file))
		log_error("%s: cannot be read: %s", path, g_strerror(errno));
	else
		good = true;
	buffer_free(&from.bytes);
	if (from.file)
		fclose(from.file);
	return good;
}

bool lines_read(const GPtrArray *files, const struct lines_sink *sink, struct lines_counts *counts)
{
	struct lines lines = {.sink = sink, .counts = counts};
	bool good = true;

	lines.spans = batch_create(BATCH_SPAN_RECORDS, 0, 0);
	for (guint i = 0; i < files->len; i++)
		good &= read_file(&lines, files->pdata[i]);
	hand(&lines, true);
	batch_unref(lines.spans);
	span_memory_free(&lines.memory);
	return good;
}
