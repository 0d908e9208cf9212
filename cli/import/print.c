/* SPDX-License-Identifier: BSD-2-Clause */
#include "import/print.h"

#include <glib.h>

#include "base/log.h"
#include "spans/shown.h"
#include "status/trace/span2.h"

struct print {
	struct span_printer *printer;
	GPtrArray *spans; /* decoded, in */
	struct span_memory memory;
	uint64_t count;
	bool failed, over;
};

struct print *print_create(const struct span_printer_options *options)
{
	struct print *print = g_new0(struct print, 1);

	print->printer = span_printer_create(options);
	print->spans = g_ptr_array_new_with_free_func(span2_free);
	return print;
}

void print_destroy(struct print *print)
{
	span_printer_destroy(print->printer);
	g_ptr_array_unref(print->spans);
	span_memory_free(&print->memory);
	g_free(print);
}

static bool write_out(struct print *print)
{
	if (!print->over && !span_printer_write(print->printer, &print->failed))
		print->over = true;
	return !print->over;
}

bool print_batch(struct print *print, const struct batch *batch)
{
	const uint32_t *sizes = batch_sizes(batch);
	const uint8_t *at = batch->spans.data;
	char error[256];

	for (uint32_t i = 0; i < batch->count; at += sizes[i++])
		if (!shown_item(
			    batch->format, at, sizes[i], &print->memory, print->spans, error, sizeof(error)))
			log_error("a span cannot be printed: %s", error);
	print->count += print->spans->len;
	span_printer_add(print->printer, print->spans);
	span_printer_show_quiet(print->printer);
	return write_out(print);
}

bool print_end(struct print *print)
{
	span_printer_show_all(print->printer);
	return write_out(print);
}

uint64_t print_count(const struct print *print)
{
	return print->count;
}

bool print_failed(const struct print *print)
{
	return print->failed;
}
