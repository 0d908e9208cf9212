/* SPDX-License-Identifier: BSD-2-Clause */
/* What the status says in text of a state that is made up. */
#include <check.h>
#include <string.h>

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
	status.http_error = "";
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

int main(void)
{
	TCase *cases = tcase_create("status");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_loop_test(cases, latency, 0, sizeof(latencies) / sizeof(*latencies));
	tcase_add_test(cases, sizes);
	return run_cases("status", cases);
}
