/* SPDX-License-Identifier: BSD-2-Clause */
/* What the status says in text of a state that is made up. */
#include <check.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "status/doctor.h"
#include "status/refusal.h"
#include "status/status.h"

#include "run.h"

static struct config config;
static struct reload_state reload;
static struct status status;

static void setup(void)
{
	config_init(&config);
	memset(&status, 0, sizeof(status));
	status.config = &config;
	status.reload = &reload;
	status.http_error = status.page = "";
	status.output_count = 1;
	status.outputs[0].name = "default";
	status.outputs[0].uplink.type = status.outputs[0].uplink.server = "scribe";
}

static void teardown(void)
{
	config_free(&config);
}

static void expect(const char *line)
{
	struct buffer text = {0};

	status_write_text(&text, &status);
	buffer_put(&text, "", 1);
	ck_assert_msg(strstr((const char *)text.data, line), "%s is not in\n%s", line, text.data);
	buffer_free(&text);
}

/* So many spans in these buckets of the histogram. */
static const struct {
	uint64_t first, fourth, beyond;
	const char *line;
} latencies[] = {
	{99, 1, 0, "  latency   half of the spans within 10 ms, 99 % within 10 ms\n"},
	{1, 99, 0, "  latency   half of the spans within 100 ms, 99 % within 100 ms\n"},
	{60, 38, 2, "  latency   half of the spans within 10 ms, some after more than 10 min\n"},
	{1, 0, 9, "  latency   half of the spans after more than 10 min\n"},
	{0, 0, 0, "KiB of 32 MiB\nlost\n"},
};

START_TEST(latency)
{
	uint64_t *bucket = status.outputs[0].account.latency.bucket;

	bucket[0] = latencies[_i].first;
	bucket[4 - 1] = latencies[_i].fourth;
	bucket[LEDGER_BUCKETS] = latencies[_i].beyond;
	status.outputs[0].queue_bytes = 4096;
	status.outputs[0].queue_limit = 32 << 20;
	expect(latencies[_i].line);
}
END_TEST

START_TEST(sizes)
{
	status.outputs[0].queue_limit = 32 << 20;
	status.outputs[0].spool.bytes = 67001 << 10;
	status.outputs[0].spool.max_bytes = 1 << 30;
	expect("  queue     0 of 32 MiB\n  spool     65.4 MiB of 1 GiB\n");
}
END_TEST

/* The only server of the only output. */
static struct uplink_server_state *server(void)
{
	struct uplink_state *uplink = &status.outputs[0].uplink;

	uplink->server_count = 1;
	uplink->server = uplink->servers[0].server = "a:1";
	uplink->servers[0].serving = true;
	return &uplink->servers[0];
}

/* So many ms ago it began to fail; whether it was up before, and whether it fails again and again. */
static const struct {
	int64_t ms;
	bool was_up, unsteady, delivers, down, told_unsteady;
} failures[] = {
	{100, true, false, true, false, false},
	{100, false, false, false, false, false},
	{1500, true, false, false, true, false},
	{1500, true, true, true, false, true},
	{6000, true, true, false, true, false},
};

static bool finds(const char *code)
{
	struct findings findings;

	doctor_examine(&status, &findings);
	for (size_t i = 0; i < findings.count; i++)
		if (strcmp(findings.list[i].code, code) == 0)
			return true;
	return false;
}

START_TEST(failing)
{
	struct uplink_server_state *one = server();

	one->fault = FAULT_TRY_LATER;
	one->failing_since = clock_monotonic() - failures[_i].ms * NS_PER_MS;
	one->was_up = failures[_i].was_up;
	one->unsteady = failures[_i].unsteady;
	expect(failures[_i].delivers ? "delivering  yes, to a:1\n" : "delivering  NO, to a:1\n");
	ck_assert(finds("output-busy") == failures[_i].down);
	ck_assert(finds("output-unsteady") == failures[_i].told_unsteady);
}
END_TEST

/* One that comes and goes, and is well at this moment. */
START_TEST(unsteady)
{
	struct uplink_server_state *one = server();

	status.outputs[0].uplink.up = one->up = one->was_up = one->unsteady = true;
	strcpy(one->last, "the server asks to try later");
	expect("  the collector at a:1 fails again and again, and recovers each time; the last failure: the "
	       "server asks to try later\n");
	one->unsteady = false;
	ck_assert(!finds("output-unsteady"));
}
END_TEST

/* Nothing is collected: since when, in ms, and why; and whether that is found yet. */
static const struct {
	int64_t ms;
	enum collector_reason reason;
	bool found;
} pauses[] = {
	{100, REASON_READER_ENDED, false},
	{3000, REASON_READER_ENDED, true},
	{3000, REASON_STARTING, false},
	{6000, REASON_STARTING, true},
};

START_TEST(not_collecting)
{
	status.progress = clock_monotonic();
	status.collector.since = clock_monotonic() - pauses[_i].ms * NS_PER_MS;
	status.collector.reason = pauses[_i].reason;
	config.tracing_group[0] = '\0';
	/* where LTTng does not run either, that is what is found */
	ck_assert((finds("reader-ended") || finds("no-session") || finds("no-session-daemon")) ==
		  pauses[_i].found);
}
END_TEST

/* Programs that are there, and how many seconds ago the last event came; 0: never. */
static const struct {
	int programs, blkin;
	int64_t programs_since, last_event;
	const char *code;
	bool found;
} silences[] = {
	{0, 0, 0, 5, "no-program", false},
	{0, 0, 0, 40, "no-program", true},
	{0, 0, 0, 0, "no-program", true},
	{1, 0, 10, 5, "no-blkin", false},
	{1, 0, 10, 0, "no-blkin", true},
	{2, 2, 1, 0, "quiet", false},
	{2, 2, 8, 0, "quiet", true},
	{2, 2, 90, 60, "quiet", false},
	{2, 2, 900, 130, "quiet", true},
};

START_TEST(silent)
{
	int64_t now = clock_monotonic(), last = silences[_i].last_event;

	status.progress = now;
	status.collector.collecting = true;
	status.collector.since = now - 1000 * NS_PER_SECOND;
	status.census = (struct census){
		.known = true, .programs = silences[_i].programs, .blkin = silences[_i].blkin};
	status.activity.programs = silences[_i].programs;
	status.activity.programs_since = now - silences[_i].programs_since * NS_PER_SECOND;
	status.activity.last_event = last ? now - last * NS_PER_SECOND : 0;
	ck_assert_msg(finds(silences[_i].code) == silences[_i].found, "%s", silences[_i].code);
}
END_TEST

/* Only root and the agent's user may say that a reload was refused. */
START_TEST(refusal)
{
	const unsigned root = 0, own = geteuid(), other = 65533;
	struct reload_state state = {0};
	struct buffer body = {0};

	ck_assert_int_eq(refusal_take(&state, true, &other, &body), 403);
	ck_assert_int_eq(refusal_take(&state, true, NULL, &body), 403);
	ck_assert_int_eq(refusal_take(&state, false, &root, &body), 405);
	ck_assert(!state.failed && !state.failures);
	ck_assert_int_eq(refusal_take(&state, true, &root, &body), 200);
	ck_assert_int_eq(refusal_take(&state, true, &own, &body), 200);
	ck_assert(state.failed);
	ck_assert_uint_eq(state.failures, 2);
	buffer_free(&body);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("status");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_loop_test(cases, latency, 0, sizeof(latencies) / sizeof(*latencies));
	tcase_add_test(cases, sizes);
	tcase_add_test(cases, refusal);
	tcase_add_loop_test(cases, failing, 0, sizeof(failures) / sizeof(*failures));
	tcase_add_test(cases, unsteady);
	tcase_add_loop_test(cases, not_collecting, 0, sizeof(pauses) / sizeof(*pauses));
	tcase_add_loop_test(cases, silent, 0, sizeof(silences) / sizeof(*silences));
	return run_cases("status", cases);
}
