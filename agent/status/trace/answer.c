/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/trace/answer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "base/regularfile.h"

static void begin(struct answer *answer)
{
	*answer = (struct answer){.spans = g_ptr_array_new_with_free_func(answer_span_free),
		.missing = g_ptr_array_new_with_free_func(g_free)};
}

/* A line; what it says of another trace, whose id has the same lower half, is no damage. */
static void take_line(struct answer *answer, struct text line, uint64_t high, uint64_t trace_id)
{
	g_autoptr(GPtrArray) missing = g_ptr_array_new_with_free_func(g_free);
	struct answer_span *span = answer_read_line(line, missing);
	bool is_ours = span && span->span->trace_id == trace_id;
	bool is_others = is_ours && high && span->span->trace_id_high && span->span->trace_id_high != high;

	if (is_ours && !is_others) {
		/* they are about the trace, and each line has them */
		if (!answer->spans->len)
			g_ptr_array_extend_and_steal(answer->missing, g_steal_pointer(&missing));
		g_ptr_array_add(answer->spans, span);
		buffer_put(&answer->lines, line.data, line.size);
		buffer_put(&answer->lines, "\n", 1);
		return;
	}
	answer->damaged += !is_ours;
	if (span)
		answer_span_free(span);
}

void answer_parse(struct answer *answer, const char *text, size_t size, uint64_t high, uint64_t trace_id)
{
	const char *end;

	begin(answer);
	answer->is = true;
	answer->cut = size > ANSWER_BYTES_MAX;
	size = MIN(size, ANSWER_BYTES_MAX);
	answer->damaged = !size;
	for (; size; size -= (size_t)(end - text), text = end) {
		end = memchr(text, '\n', size);
		if (!end && answer->cut)
			return; /* it is not whole */
		if (answer->spans->len == ANSWER_SPANS_MAX) {
			answer->cut = true;
			return;
		}
		end = end ? end + 1 : text + size;
		take_line(answer, (struct text){text, (uint32_t)(end - text - (end[-1] == '\n'))}, high,
			trace_id);
	}
}

void answer_read(struct answer *answer, const char *path, uint64_t high, uint64_t trace_id)
{
	g_autofree char *file = g_strdup_printf("%s/%016" PRIx64 ".jsonl", path, trace_id);
	struct buffer text = {0};

	if (regularfile_read_first(file, ANSWER_BYTES_MAX + 1, &text) == 0) {
		answer_parse(answer, (const char *)text.data, text.size, high, trace_id);
	} else {
		begin(answer);
		answer->is = errno != ENOENT && errno != ENOTDIR;
		answer->error = answer->is ? regularfile_error(errno) : NULL;
	}
	buffer_free(&text);
}

void answer_clear(struct answer *answer)
{
	g_ptr_array_unref(answer->spans);
	g_ptr_array_unref(answer->missing);
	buffer_free(&answer->lines);
}

const struct answer_span *answer_about(const struct answer *answer, uint64_t id, enum span2_kind kind)
{
	for (guint i = 0; i < answer->spans->len; i++) {
		const struct answer_span *span = g_ptr_array_index(answer->spans, i);

		if (span->id == id && span->kind == kind)
			return span;
	}
	return NULL;
}

void answer_put_json(struct buffer *out, const struct answer *answer)
{
	const char *line = (const char *)answer->lines.data, *end = line + answer->lines.size;

	json_open(out, '[');
	while (line < end) {
		const char *next = memchr(line, '\n', (size_t)(end - line));

		if (line > (const char *)answer->lines.data)
			buffer_put(out, ",", 1);
		buffer_put(out, line, (size_t)(next - line));
		line = next + 1;
	}
	json_close(out, ']');
	buffer_put(out, "\n", 1);
}
