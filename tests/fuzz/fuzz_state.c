/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What `blkin status` reads of an agent: its JSON, completed by what the command has found out, and as text.
 * The first byte chooses what that is.
 */
#include "fuzz.h"

#include <string.h>

#include <glib.h>

#include "state/findings.h"
#include "state/text.h"
#include "state/told.h"

static void hold_lines(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);

	for (char **line = lines; *line; line++)
		fuzz_hold(fuzz_is_printable(*line), "a terminal obeys nothing in it");
}

static struct census census_of(uint8_t bits)
{
	return (struct census){
		.known = bits & 1,
		.programs = bits & 2 ? 3 : 0,
		.blkin = bits & 4 ? 2 : 0,
		.other = "a",
		.stopped = bits & 8 ? 1 : 0,
		.stopped_names = "b (1) of user 7",
		.unrecorded = bits & 16 ? 2 : 0,
		.unrecorded_names = "c (2) of user 8",
		.holders = bits & 32 ? 1 : 0,
		.holder_names = "d (3) of user 9",
		.strangers = bits & 64 ? 1 : 0,
		.stranger = "e",
		.events_off = bits & 128,
		.sampling_off = bits & 128,
	};
}

static bool is_json(const char *text)
{
	struct telling telling;

	told_open(&telling, text);
	return told_close(&telling);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct census census = census_of(size ? *data : 0);
	g_autofree char *agents = size ? g_strndup((const char *)data + 1, size - 1) : g_strdup("");
	struct buffer state = {0}, text = {0};

	if (state_complete(&state, agents, &census, "tracing")) {
		hold_lines((const char *)state.data);
		fuzz_hold(is_json((const char *)state.data), "it is JSON still");
		if (state_text(&text, (const char *)state.data))
			hold_lines((const char *)text.data);
	}
	buffer_free(&state);
	buffer_free(&text);
	return 0;
}
