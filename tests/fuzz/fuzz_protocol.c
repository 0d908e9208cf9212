/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and the agent say to each other: the queries of questions and orders, and their answers.
 */
#include "fuzz.h"

#include <string.h>

#include <glib.h>

#include "status/discardtalk.h"
#include "status/protocol.h"

static void read_census(const char *text)
{
	static const struct census nothing;
	struct buffer query = {0};
	struct census census, again;

	memset(&census, 0xff, sizeof(census));
	if (protocol_get_census(text, &census)) {
		fuzz_hold(memcmp(&census, &nothing, sizeof(census)) == 0, "a bad question says nothing");
		return;
	}
	fuzz_hold(fuzz_is_printable(census.other), "a program's name is printable");
	fuzz_hold(census.programs >= 0 && census.blkin >= 0 && census.stopped >= 0, "none is negative");
	protocol_put_census(&query, &census);
	buffer_put(&query, "", 1);
	fuzz_hold(!protocol_get_census((const char *)query.data, &again), "what was read can be asked");
	fuzz_hold(again.programs == census.programs && strcmp(again.other, census.other) == 0,
		"and says the same");
	buffer_free(&query);
}

static void read_discard(const char *text)
{
	struct discard_question question, again;
	struct discard_state state;
	struct buffer query = {0};

	if (discardtalk_get_question(text, &question)) {
		fuzz_hold(spoolname_is_good(question.output) && question.before >= 0, "it is an order");
		discardtalk_put_question(&query, &question);
		buffer_put(&query, "", 1);
		fuzz_hold(discardtalk_get_question((const char *)query.data, &again),
			"what was read can be asked");
		fuzz_hold(again.before == question.before && strcmp(again.output, question.output) == 0,
			"and says the same");
		buffer_free(&query);
	}
	if (discardtalk_get_answer(text, &state)) {
		fuzz_hold(state.batches >= 0 && state.spans >= 0 && state.under_way >= 0, "none is negative");
		fuzz_hold(fuzz_is_printable(state.error), "its words are printable");
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	struct protocol_session session;

	read_census(text);
	read_discard(text);
	if (protocol_get_session(text, &session)) {
		fuzz_hold(session.name[0], "a session has a name");
		fuzz_hold(session.protocol >= 0, "the version is not negative");
		fuzz_hold(fuzz_is_printable(session.agent), "the version's words are printable");
	}
	return 0;
}
