/* SPDX-License-Identifier: BSD-2-Clause */
/* The command is the product's own, down to where it would send: the outputs are here, and count. */
#define _GNU_SOURCE
#include "trace/by_import.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <glib.h>

#include "base/clock.h"
#include "commands.h"
#include "fuzz.h"
#include "import/around.h"
#include "import/print.h"
#include "output/outputs.h"
#include "queue/queue.h"
#include "trace/witness.h"

/* Printing, which is not asked for */

struct print *print_create(const struct span_printer_options *options)
{
	(void)options;
	abort();
}

void print_destroy(struct print *print)
{
	(void)print;
}

bool print_batch(struct print *print, const struct batch *batch)
{
	(void)print;
	(void)batch;
	return true;
}

bool print_end(struct print *print)
{
	(void)print;
	return true;
}

uint64_t print_count(const struct print *print)
{
	(void)print;
	return 0;
}

bool print_failed(const struct print *print)
{
	(void)print;
	return false;
}

/* Nor is what is around a trace */

bool around_parse(const char *text, uint64_t *trace_id)
{
	(void)text;
	(void)trace_id;
	return false;
}

int around_run(const struct config *config, const char *trace_id, const struct span_printer_options *how,
	const GPtrArray *traces)
{
	(void)config;
	(void)trace_id;
	(void)how;
	(void)traces;
	abort();
}

/* The outputs */

struct outputs {
	struct account *account;
	struct queue *queue;
};

static void on_wake(void *data)
{
	(void)data;
}

struct outputs *outputs_create(struct event_base *base, const struct config *config, bool patient)
{
	static const struct queue_limits limits = {.bytes = 256 << 20};
	struct outputs *outputs = g_new0(struct outputs, 1);

	(void)base;
	(void)config;
	(void)patient;
	outputs->account = account_open("default");
	outputs->queue = queue_create(&limits, outputs->account, on_wake, NULL);
	return outputs;
}

/* Records are what is looked at. */
bool outputs_sole_format(const struct config *config, enum batch_format *format)
{
	(void)config;
	(void)format;
	return false;
}

struct outlets *outputs_outlets(const struct outputs *outputs)
{
	const struct outlet outlet = {outputs->queue, {KIND_SPANS, 100, 1 << 16, NS_PER_SECOND}};

	return outlets_create(&outlet, 1);
}

void outputs_drain(struct outputs *outputs, void (*done)(void *data), void *data)
{
	struct entry *entry;

	while ((entry = queue_take(outputs->queue))) {
		witness_see(entry->batch);
		account_move(outputs->account, SPANS_QUEUED, SPANS_SENT, entry->batch->count);
		queue_release(outputs->queue, entry);
	}
	done(data);
}

struct outputs_counts outputs_read(
	const struct outputs *outputs, struct ledger *rows, struct output_state *states, size_t max)
{
	memset(states, 0, max * sizeof(*states));
	ledger_read_with(rows, &outputs->account, &states[0].account, 1);
	witness_hold_ledger(rows);
	states[0].name = "default";
	return (struct outputs_counts){.on = 1};
}

void outputs_end(struct outputs *outputs)
{
	(void)outputs;
}

void outputs_destroy(struct outputs *outputs)
{
	queue_end(outputs->queue);
	g_free(outputs);
}

/* The command */

static void check_report(const char *said, int code, bool whole)
{
	int64_t read = -1, in_spans = -1, rejected = -1, ignored = -1, taken = -1, sent = -1;
	const char *events = strstr(said, " events read: "), *spans = strstr(said, " spans: ");

	while (events && events > said && g_ascii_isdigit(events[-1]))
		events--;
	while (spans && spans > said && g_ascii_isdigit(spans[-1]))
		spans--;
	if (events)
		sscanf(events,
			"%" SCNd64 " events read: %" SCNd64 " in spans, %" SCNd64 " rejected, %" SCNd64
			" of other",
			&read, &in_spans, &rejected, &ignored);
	if (spans)
		sscanf(spans, "%" SCNd64 " spans: %" SCNd64 " sent", &taken, &sent);
	witness_hold(code == 0 || (code == 1 && !whole), "it ends with code %d", code);
	witness_hold(read >= 0 && read == in_spans + rejected + ignored, "the events that it reports add up");
	witness_hold(sent == taken && sent <= witness->spans && sent >= (int64_t)witness->good,
		"it reports %" PRId64 " spans, %" PRId64 " sent, where %" PRId64 " were", taken, sent,
		witness->spans);
	witness_hold(strstr(said, "anitizer") == NULL && strstr(said, "runtime error") == NULL &&
			     (strstr(said, "ended with code") == NULL || witness_excuses(said)),
		"a sanitizer complains");
}

static char *read_all(int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	char *text = g_malloc0((gsize)size + 1);

	fuzz_hold(pread(fd, text, (size_t)size, 0) == size, "what it said can be read");
	close(fd);
	return text;
}

/* With both outputs in a file in memory, as it would be in the shell. */
static int run(char **words, int count, char **said)
{
	int file = memfd_create("said", MFD_CLOEXEC), out = dup(STDOUT_FILENO), error = dup(STDERR_FILENO),
	    code;

	fflush(NULL);
	dup2(file, STDOUT_FILENO);
	dup2(file, STDERR_FILENO);
	lseek(file, 0, SEEK_SET);
	optind = 0; /* getopt begins again */
	code = command_import(count, words);
	fflush(NULL);
	dup2(out, STDOUT_FILENO);
	dup2(error, STDERR_FILENO);
	close(out);
	close(error);
	*said = read_all(file);
	return code;
}

char *import_folder(const char *folder, bool whole)
{
	char *config = fuzz_write("agent.conf", (const uint8_t *)"", 0), *said;
	char *words[] = {(char[]){"import"}, (char[]){"--config"}, config, (char[]){"--server"},
		(char[]){"127.0.0.1:1"}, (char *)(uintptr_t)folder, NULL};
	int code;

	witness_begin();
	code = run(words, G_N_ELEMENTS(words) - 1, &said);
	check_report(said, code, whole);
	for (unsigned i = 0; i < witness->good; i++)
		witness_hold(witness->times[i] > 0, "span %u of the good trace is not sent", i);
	g_free(config);
	return said;
}
