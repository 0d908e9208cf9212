/* SPDX-License-Identifier: BSD-2-Clause */
/* What `blkin status` and the agent say to each other: the query of a question, and the answer to /session.
 */
#include "fuzz.h"

#include <string.h>

#include <glib.h>

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *text = g_strndup((const char *)data, size);
	struct protocol_session session;

	read_census(text);
	if (protocol_get_session(text, &session)) {
		fuzz_hold(session.name[0], "a session has a name");
		fuzz_hold(session.protocol >= 0, "the version is not negative");
		fuzz_hold(fuzz_is_printable(session.agent), "the version's words are printable");
	}
	return 0;
}
