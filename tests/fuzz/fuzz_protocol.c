/* SPDX-License-Identifier: BSD-2-Clause */
/* What the command and the agent say to each other: the queries of questions and orders, and their answers.
 */
#include "fuzz.h"

#include <string.h>

#include <glib.h>

#include "status/discardtalk.h"
#include "status/protocol.h"

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

	read_discard(text);
	if (protocol_get_session(text, &session)) {
		fuzz_hold(session.name[0], "a session has a name");
		fuzz_hold(session.protocol >= 0, "the version is not negative");
		fuzz_hold(fuzz_is_printable(session.agent), "the version's words are printable");
	}
	return 0;
}
