/* SPDX-License-Identifier: BSD-2-Clause */
#include "trace/witness.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <babeltrace2/babeltrace.h>

#include "fuzz.h"
#include "queue/encoding.h"

struct witness *witness;

void witness_create(void)
{
	witness = mmap(NULL, sizeof(*witness), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fuzz_hold(witness != MAP_FAILED, "memory can be shared");
}

void witness_begin(void)
{
	memset(witness->times, 0, sizeof(witness->times));
	memset(&witness->rows, 0, sizeof(witness->rows));
	witness->spans = 0;
}

/* FNV-1a. */
static uint64_t hash(const uint8_t *bytes, uint32_t size)
{
	uint64_t value = UINT64_C(0xcbf29ce484222325);

	for (uint32_t i = 0; i < size; i++)
		value = (value ^ bytes[i]) * UINT64_C(0x100000001b3);
	return value;
}

static void see(uint64_t span)
{
	unsigned i = 0;

	witness->spans++;
	while (i < witness->good && witness->known[i] != span)
		i++;
	if (i < witness->good) {
		witness->times[i]++;
	} else if (witness->learning && witness->good < GOOD_MAX) {
		witness->known[i] = span;
		witness->times[i] = 1;
		witness->good++;
	}
}

/* A span is what an output makes of it: who reads it by itself knows whose it is, which no output says. */
void witness_see(const struct batch *spans)
{
	struct batch *sent = encode_batch(spans, BATCH_ZIPKIN_SPANS, NULL);
	const uint8_t *at = sent->spans.data;

	for (uint32_t i = 0; i < sent->count; i++) {
		witness_hold(batch_sizes(sent)[i] > 0, "a span is made that cannot be read");
		see(hash(at, batch_sizes(sent)[i]));
		at += batch_sizes(sent)[i];
	}
	batch_unref(sent);
}

void witness_hold(bool condition, const char *rule, ...)
{
	va_list words;

	if (condition || witness->wrong[0])
		return;
	va_start(words, rule);
	vsnprintf(witness->wrong, sizeof(witness->wrong), rule, words);
	va_end(words);
}

void witness_hold_ledger(const struct ledger *rows)
{
	const int64_t *row = rows->row;
	int64_t settled = row[EVENTS_IN_SPANS] + row[EVENTS_AS_JSON] + row[EVENTS_REJECTED_MALFORMED] +
			  row[EVENTS_REJECTED_ID] + row[EVENTS_REJECTED_TIME] + row[EVENTS_IGNORED];

	witness_hold(row[EVENTS_READ] == settled, "%" PRId64 " events read, and %" PRId64 " in other rows",
		row[EVENTS_READ], settled);
	for (int i = 0; i < LEDGER_ROWS; i++)
		witness_hold(row[i] >= 0, "%" PRId64 " in row %s", row[i], ledger_rows[i].name);
}

bool witness_excuses(const char *how)
{
	static const char words[] = "ended with code ";
	const char *at = strstr(how, words);

	if (!at || bt_version_get_minor() == 0)
		return false;
	for (; at; at = strstr(at + 1, words))
		if (strtol(at + sizeof(words) - 1, NULL, 10) != 1)
			return false;
	return true;
}
