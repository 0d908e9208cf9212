/* SPDX-License-Identifier: BSD-2-Clause */
/* What `blkin status` says of a state that is made up, and of programs that are: by way of the agent's JSON.
 */
#include <check.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/human.h"
#include "state/findings.h"
#include "state/text.h"
#include "status/doctor.h"
#include "status/status.h"

#include "config/load.h"
#include "run.h"

static struct config config;
static struct reload_state reload;
static struct status status;
static struct census census;

static void setup(void)
{
	config_init(&config);
	memset(&status, 0, sizeof(status));
	memset(&census, 0, sizeof(census));
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

/* What the agent says. */
static char *agents(void)
{
	struct buffer json = {0};

	status_write_json(&json, &status);
	buffer_put(&json, "", 1);
	return (char *)json.data;
}

/* What the command makes of that, as JSON and as text; NULL if it does not understand it; g_free. */
static char *completed(const char *agents)
{
	struct buffer out = {0};

	if (!state_complete(&out, agents, &census, config.tracing_group))
		buffer_free(&out);
	return (char *)out.data;
}

static char *text_of(const char *agents)
{
	g_autofree char *json = completed(agents);
	struct buffer out = {0};

	if (json && !state_text(&out, json))
		buffer_free(&out);
	return (char *)out.data;
}

static void expect(const char *line)
{
	g_autofree char *json = agents(), *text = text_of(json);

	ck_assert_msg(text && strstr(text, line), "%s is not in\n%s", line, text ? text : json);
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
	expect("  queue     0 of 32 MiB\n  spool     its file has 65.4 MiB of 1 GiB\n");
}
END_TEST

/* A spool's file stays as large as it was. */
START_TEST(spool_file)
{
	struct spooler_state *spool = &status.outputs[0].spool;

	*spool = (struct spooler_state){.ok = true, .bytes = 4 << 20, .max_bytes = 1 << 30};
	expect("  spool     empty (its file has 4 MiB of 1 GiB)\n");
	spool->batches = spool->spans = 1;
	expect("  spool     1 span; its file has 4 MiB of 1 GiB\n");
	spool->spans = 580;
	spool->drain = DRAIN_STOPPED;
	expect("  spool     580 spans, not draining; its file has 4 MiB of 1 GiB\n");
	*spool = (struct spooler_state){.bytes = 4 << 20, .max_bytes = 1 << 30}; /* that is not known */
	expect("  spool     its file has 4 MiB of 1 GiB\n");
}
END_TEST

/* What comes now is told once it is known. */
START_TEST(rate)
{
	status.supervisor.since = clock_monotonic();
	status.activity.rate = 812.4;
	expect("  now       812 spans a second\n  events    0 read");
	status.activity.rate = 0.25;
	expect("  now       0.2 spans a second\n");
	status.activity.rate = 0;
	expect("  now       0 spans a second\n");
	status.activity.rate = -1;
	expect("for 0 s\n  events    0 read");
}
END_TEST

/* By the command, by the agent, or by nobody. */
START_TEST(programs)
{
	status.supervisor.since = clock_monotonic();
	status.supervisor.collecting = true;
	status.activity.programs = 2;
	expect("collecting  yes, from 2 programs, for 0 s\n");
	census = (struct census){.known = true, .programs = 1};
	expect("collecting  yes, from 1 program, 0 of them with blkin, for 0 s\n");
	census.blkin = 1;
	expect("collecting  yes, from 1 program, for 0 s\n");
	census.known = false;
	status.activity.programs = -1;
	expect("collecting  yes, for 0 s\n");
}
END_TEST

/* What is lost has its time; and of what is acknowledged nothing is said. */
START_TEST(losses)
{
	int64_t now = clock_monotonic();
	char since[HUMAN_MAX];
	g_autofree char *head = NULL;

	status.supervisor.since = now;
	expect("\nlost\n  nothing\n");
	status.rows.row[PACKETS_LOST_UNREADABLE] = 7;
	status.outputs[0].account.row[SPANS_DROPPED_REFUSED] = 40;
	status.outputs[0].account.lost[SPANS_DROPPED_REFUSED].at = now - 3 * NS_PER_SECOND;
	expect("malformed (the log says of which user); before the agent started\n");
	expect("            40  spans");
	expect("; the last 3 s ago\n");
	status.acknowledged.at = 1700000000;
	status.acknowledged.rows.row[PACKETS_LOST_UNREADABLE] = 7;
	status.outputs[0].account.acknowledged[SPANS_DROPPED_REFUSED] = 39;
	head = g_strdup_printf(
		"\nlost since %s\n             1  spans", human_moment(since, status.acknowledged.at));
	expect(head);
	status.outputs[0].account.acknowledged[SPANS_DROPPED_REFUSED] = 40;
	expect("\n  nothing\nto do\n");
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

/* The codes of all findings, a space behind each; g_free. */
static char *codes(void)
{
	g_autofree char *before = agents(), *json = completed(before);
	GString *codes = g_string_new(NULL);
	struct told one = {0}, list;
	struct telling telling;

	ck_assert_ptr_nonnull(json);
	list = told_at(told_open(&telling, json), "findings");
	while (told_next(list, &one))
		g_string_append_printf(codes, "%s ", told_text(one, "code"));
	told_close(&telling);
	return g_string_free(codes, FALSE);
}

static bool finds(const char *code)
{
	g_autofree char *all = codes(), *one = g_strdup_printf("%s ", code);

	return strstr(all, one);
}

START_TEST(failing)
{
	struct uplink_server_state *one = server();

	status.supervisor.collecting = true;
	status.progress = status.activity.last_event = status.supervisor.since = clock_monotonic();
	census = (struct census){.known = true, .programs = 1, .blkin = 1};
	one->fault = FAULT_TRY_LATER;
	one->failing_since = clock_monotonic() - failures[_i].ms * NS_PER_MS;
	one->was_up = one->took = failures[_i].was_up;
	one->unsteady = failures[_i].unsteady;
	expect(failures[_i].delivers ? "delivering  yes, to a:1\n" : "delivering  NO, to a:1\n");
	ck_assert(finds("output-busy") == failures[_i].down);
	if (!failures[_i].down && !failures[_i].told_unsteady)
		expect(failures[_i].delivers ? "to do\n  nothing\n" : "to do\n  nothing yet\n");
	ck_assert(finds("output-unsteady") == failures[_i].told_unsteady);
}
END_TEST

/* Until it is known whether it connects. */
START_TEST(connecting)
{
	struct uplink_server_state *one = server();

	snprintf(status.outputs[0].uplink.error, sizeof(one->error), "not connected yet");
	one->connecting_since = clock_monotonic() - 4 * NS_PER_SECOND;
	expect("delivering  NO, to a:1\n  connecting for 4 s\n");
	one->connecting_since = 0;
	expect("delivering  NO, to a:1\n  not connected yet\n");
}
END_TEST

/* Connected: whether it takes spans is not known before it took some. */
START_TEST(nothing_sent_yet)
{
	struct uplink_server_state *one = server();

	status.outputs[0].uplink.up = one->up = one->was_up = true;
	expect("delivering  connected, nothing sent there yet, to a:1\n");
	one->took = true;
	expect("delivering  yes, to a:1\n");
}
END_TEST

/* Whose ring buffers there are is looked for now and then: events may come before that. */
START_TEST(no_buffers_yet)
{
	struct user_buffers *buffers = &status.supervisor.buffers;

	status.supervisor.collecting = true;
	*buffers = (struct user_buffers){.known = true, .heals = true};
	expect("  buffers   none\n");
	status.activity.last_event = clock_monotonic();
	expect("  buffers   not known yet\n");
	buffers->heals = false;
	expect("  buffers   not known yet; LTTng before 2.15: see blkin(1)\n");
	status.activity.last_event = clock_monotonic() - 30 * NS_PER_SECOND;
	expect("  buffers   none; LTTng before 2.15: see blkin(1)\n");
	userbuffers_add(buffers, 1000, 4 << 20);
	expect("  buffers   4 MiB of 1 user; LTTng before 2.15: see blkin(1)\n");
}
END_TEST

/* Which share it keeps, and who says so. */
START_TEST(shares)
{
	struct sharing_state *sharing = &status.outputs[0].sharing;

	*sharing = (struct sharing_state){.by = SHARING_BUDGET, .part = 0.08, .kept = 4987.4};
	expect("  keeps     1/12.5 of the traces, for its budget: 4987 spans/s\n");
	sharing->by = SHARING_SERVER;
	expect("  keeps     1/12.5 of the traces, as its server says: 4987 spans/s\n");
	sharing->by = SHARING_FILE;
	expect("  keeps     1/12.5 of the traces, as its file says: 4987 spans/s\n");
	*sharing = (struct sharing_state){.by = SHARING_NOBODY, .part = 1};
	expect("  keeps     1/1 of the traces, as nobody has said what to keep: 0 spans/s\n");
}
END_TEST

/* Which server or address the node prefers, which is used, and why it is another one. */
START_TEST(balance)
{
	struct uplink_server_state *one = server();
	struct uplink_state *uplink = &status.outputs[0].uplink;
	struct reached *reached = &uplink->reached;

	uplink->node = "n1";
	*reached = (struct reached){"10.0.0.7:1", "10.0.0.7:1", .count = 1};
	expect("  balance   nothing to choose: there is one server, at 10.0.0.7:1\n");
	reached->count = 3;
	expect("  balance   n1 prefers 10.0.0.7:1 of 3 addresses, and uses it\n");
	g_strlcpy(reached->address, "10.0.0.9:1", sizeof(reached->address));
	g_strlcpy(reached->why, "no route", sizeof(reached->why));
	reached->rank = 2;
	expect("  balance   n1 prefers 10.0.0.7:1 of 3 addresses, and uses 10.0.0.9:1 until that one works "
	       "again: "
	       "no route\n");
	reached->count = 1;
	uplink->server_count = 2;
	uplink->servers[1].server = "b:1";
	expect("  balance   n1 prefers a:1 of 2 servers, of which none works\n");
	uplink->up = true;
	expect("  balance   n1 prefers a:1 of 2 servers, and uses it\n");
	one->serving = false;
	uplink->servers[1].serving = true;
	uplink->server = "b:1";
	expect("  balance   n1 prefers a:1 of 2 servers, and uses b:1 until that one works again\n");
	one->fault = FAULT_CLOSED;
	g_strlcpy(one->error, "it closed", sizeof(one->error));
	expect("  balance   n1 prefers a:1 of 2 servers, and uses b:1 until that one works again: it "
	       "closed\n");
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
	enum reason reason;
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
	status.supervisor.since = clock_monotonic() - pauses[_i].ms * NS_PER_MS;
	status.supervisor.reason = pauses[_i].reason;
	config.tracing_group[0] = '\0';
	/* where LTTng does not run either, that is what is found */
	ck_assert((finds("reader-ended") || finds("no-session") || finds("no-session-daemon")) ==
		  pauses[_i].found);
}
END_TEST

/* How many seconds ago the session was lost, the latest first. */
static const struct {
	int64_t ago[ACTIVITY_LOSSES]; /* s; 0: not so many */
	bool unsteady;
} gone[] = {
	{{1}, false},
	{{1, 2, 3}, true},
	{{1, 2, 70}, false},
	{{14, 30, 60}, true},
	{{16, 17, 18}, false},
};

/* A session that is lost again and again is collected from in between. */
START_TEST(session_comes_and_goes)
{
	status.progress = status.supervisor.since = status.activity.last_event = clock_monotonic();
	status.supervisor.collecting = true;
	for (int i = 0; i < ACTIVITY_LOSSES && gone[_i].ago[i]; i++)
		status.activity.sessions_lost[i] = clock_monotonic() - gone[_i].ago[i] * NS_PER_SECOND;
	ck_assert(finds("session-unsteady") == gone[_i].unsteady);
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
	status.supervisor.collecting = true;
	status.supervisor.since = now - 1000 * NS_PER_SECOND;
	census = (struct census){
		.known = true, .programs = silences[_i].programs, .blkin = silences[_i].blkin};
	status.activity.programs = silences[_i].programs;
	status.activity.programs_since = now - silences[_i].programs_since * NS_PER_SECOND;
	status.activity.last_event = last ? now - last * NS_PER_SECOND : 0;
	ck_assert_msg(finds(silences[_i].code) == silences[_i].found, "%s", silences[_i].code);
}
END_TEST

/* Programs that ran to their end are nothing to be mended; one that should be there may be. Also where the
 * agent counts another's canary, and the command knows better. */
START_TEST(no_program_any_more)
{
	int64_t now = clock_monotonic();

	status.progress = now;
	status.supervisor.collecting = true;
	for (status.activity.programs = 0; status.activity.programs < 2; status.activity.programs++) {
		census.known = status.activity.programs > 0;
		status.activity.last_event = 0;
		expect("  no program is registered with LTTng\n    -> start one");
		status.activity.last_event = now - 40 * NS_PER_SECOND;
		expect("  no program is registered with LTTng now; events came before\n"
		       "    -> nothing, if those have ended; or else start one");
	}
}
END_TEST

/* The canary, for how many seconds it has been so, and how many ago the last event of others came; 0: never.
 */
static const struct {
	enum canary_mood mood;
	enum canary_stage stage;
	int64_t away, last_event;
	const char *code, *what;
	bool found;
} canaries[] = {
	{CANARY_OFF, 0, 0, 0, "canary-late", "", false},
	{CANARY_MISSING, 0, 0, 0, "canary-late", "", false},
	{CANARY_WELL, 0, 0, 0, "canary-late", "", false},
	{CANARY_LATE, STAGE_CONSUMER, 6, 0, "canary-late", "", false}, /* the reader may say more */
	{CANARY_LATE, STAGE_CONSUMER, 11, 0, "canary-late", "for 11 s", true},
	{CANARY_LATE, STAGE_SESSION_DAEMON, 11, 30, "canary-late", "", true},
	{CANARY_LATE, STAGE_RELAY, 11, 30, "canary-late", "", true},
	{CANARY_LATE, STAGE_READER, 11, 1, "canary-late", "", false}, /* it is only behind, */
	{CANARY_LATE, STAGE_CONSUMER, 61, 1, "canary-late", "reader has not come to it",
		true}, /* but for long */
	{CANARY_UNRECORDED, 0, 11, 0, "canary-unrecorded", "not recorded for 11 s", true},
};

START_TEST(canary)
{
	int64_t now = clock_monotonic(), last = canaries[_i].last_event;

	status.progress = now;
	status.supervisor.collecting = true;
	status.supervisor.since = now - 1000 * NS_PER_SECOND;
	census = (struct census){.known = true, .programs = 1, .blkin = 1};
	status.activity.last_event = last ? now - last * NS_PER_SECOND : 0;
	status.canary = (struct canary_state){.mood = canaries[_i].mood,
		.stage = canaries[_i].stage,
		.since = now - canaries[_i].away * NS_PER_SECOND,
		.came = now,
		.lag = canaries[_i].away * NS_PER_SECOND};
	ck_assert(finds(canaries[_i].code) == canaries[_i].found);
	ck_assert(doctor_canary_is_lost(&status) == canaries[_i].found);
	expect(canaries[_i].what);
	/* whoever has said why is the one to be heard */
	status.supervisor.reason = REASON_RELAY_STALLS;
	ck_assert(!finds(canaries[_i].code));
	/* but that it is read from files is no reason */
	status.supervisor.reason = REASON_UNREADABLE;
	ck_assert(finds(canaries[_i].code) == canaries[_i].found);
}
END_TEST

/* Where it holds up what programs record, too, that is told, and not once more that the kernel is not
 * recorded. */
START_TEST(kernel_is_told_once)
{
	g_autofree char *all = NULL;
	const char *first;

	status.supervisor.collecting = true;
	status.progress = status.activity.last_event = status.supervisor.since = clock_monotonic();
	status.supervisor.reason = status.supervisor.omissions.kernel.reason = REASON_KERNEL_CONSUMER;
	all = codes();
	first = strstr(all, "kernel-consumer ");
	ck_assert_ptr_nonnull(first);
	ck_assert_ptr_null(strstr(first + 1, "kernel-consumer "));
	status.supervisor.reason = REASON_NONE;
	ck_assert(finds("kernel-consumer"));
}
END_TEST

/* A user's own session daemon is no unit of the system's. */
START_TEST(kernel_missing)
{
	problem_set(&status.supervisor.omissions.kernel, REASON_KERNEL_MISSING, "no tracer");
	expect("modprobe lttng-tracer, then systemctl restart lttng-sessiond; in a container");
	config.tracing_group[0] = '\0';
	expect("modprobe lttng-tracer, then end lttng-sessiond and start it again, as this user; in a");
}
END_TEST

#define RESTART "\"fix\":\"systemctl restart lttng-sessiond\""
#define END_BOTH "or else end it and lttng-sessiond together (systemctl kill -s KILL lttng-sessiond)"

/* A restart of the session daemon would wait for one that does not answer, so that no program is registered.
 */
static const struct {
	enum reason session;
	const char *text, *fix;
} kernels[] = {
	{REASON_NONE, PROBLEM_KERNEL_CONSUMER_GONE, RESTART},
	{REASON_NONE, PROBLEM_KERNEL_CONSUMER_SILENT, END_BOTH},
	{REASON_KERNEL_CONSUMER, "it passes on nothing", END_BOTH},
};

START_TEST(kernel_consumer)
{
	g_autofree char *json = NULL;

	status.supervisor.collecting = true;
	status.progress = status.activity.last_event = status.supervisor.since = clock_monotonic();
	status.supervisor.reason = kernels[_i].session;
	g_strlcpy(status.supervisor.error, kernels[_i].text, sizeof(status.supervisor.error));
	if (!kernels[_i].session)
		problem_set(
			&status.supervisor.omissions.kernel, REASON_KERNEL_CONSUMER, "%s", kernels[_i].text);
	json = agents();
	ck_assert_msg(strstr(json, kernels[_i].text) && strstr(json, kernels[_i].fix), "%s", json);
	ck_assert_int_eq(!!strstr(json, RESTART), strcmp(kernels[_i].fix, RESTART) == 0);
}
END_TEST

/* Each turn of the live timer may hold it up. */
START_TEST(canary_of_slow_timer)
{
	int64_t now = clock_monotonic();

	config.live_timer = 30 * NS_PER_SECOND;
	status.supervisor.collecting = true;
	status.canary =
		(struct canary_state){.mood = CANARY_LATE, .since = now - 65 * NS_PER_SECOND, .came = now};
	ck_assert(!doctor_canary_is_lost(&status));
	status.canary.since = now - 71 * NS_PER_SECOND;
	ck_assert(doctor_canary_is_lost(&status));
	status.activity.last_event = now;
	ck_assert(!doctor_canary_is_lost(&status));
	status.canary.since = now - 121 * NS_PER_SECOND;
	ck_assert(doctor_canary_is_lost(&status));
}
END_TEST

/* Once all programs that were there have had the time to get ring buffers. */
START_TEST(without_ring_buffers)
{
	status.progress = status.activity.last_event = clock_monotonic();
	status.supervisor.collecting = true;
	status.supervisor.since = clock_monotonic() - 9 * NS_PER_SECOND;
	census = (struct census){.unrecorded = 1, .unrecorded_names = "a (1) of user 7"};
	ck_assert(!finds("program-unrecorded"));
	status.supervisor.since -= 2 * NS_PER_SECOND;
	ck_assert(finds("program-unrecorded"));
	expect("1 program with blkin records nothing, as LTTng has given it no ring buffers: a (1) of user "
	       "7\n");
	status.supervisor.collecting = false;
	ck_assert(!finds("program-unrecorded"));
}
END_TEST

/* Those that the session daemon waits for are named if that is known; none is to be restarted for them. */
START_TEST(waits_for_stopped)
{
	status.progress = clock_monotonic();
	status.supervisor.reason = REASON_SESSION_DAEMON_WAITS;
	snprintf(status.supervisor.error, sizeof(status.supervisor.error), "lttng-sessiond waits");
	ck_assert(finds("program-stopped"));
	expect("lttng-sessiond waits");
	expect("`blkin status`, as root, names them");
	census = (struct census){.stopped = 2, .stopped_names = "a (1) of user 7, b (2) of user 7"};
	ck_assert(finds("program-stopped") && !finds("lttng-hangs"));
	expect("2 traced programs are stopped: a (1) of user 7, b (2) of user 7;");
	expect(": that is why nothing is collected now");
	status.supervisor.reason = REASON_NONE;
	status.supervisor.collecting = true;
	census.stopped = 1;
	ck_assert(finds("program-stopped"));
	expect("it records nothing, and lttng-sessiond waits 5 s for each whenever the session begins or "
	       "changes\n");
}
END_TEST

/* Those that wait for long; whoever holds them up is named, and nobody else is blamed. */
START_TEST(waits_to_be_registered)
{
	int64_t now = clock_monotonic();

	status.progress = now;
	status.supervisor.collecting = true;
	census.known = true;
	status.activity.registering = 1;
	status.activity.registering_since = now - 4 * NS_PER_SECOND;
	ck_assert(!finds("registration-held") && finds("no-program"));
	status.activity.registering_since = now - 6 * NS_PER_SECOND;
	ck_assert(finds("registration-held") && !finds("no-program"));
	expect("1 connection waits to be registered by lttng-sessiond, for 6 s: programs that start now");
	expect("`blkin status`, as root, names the processes");
	status.activity.registering = 64;
	census.holders = 1;
	snprintf(census.holder_names, sizeof(census.holder_names), "a (1) of user 7");
	ck_assert(finds("registration-held"));
	expect("64 connections wait to be registered by lttng-sessiond, the longest for 6 s:");
	expect("in their start; what holds it up is a (1) of user 7");
	expect("end it (kill -KILL and its number)");
	status.canary = (struct canary_state){.mood = CANARY_UNRECORDED, .since = now};
	ck_assert(!finds("canary-unrecorded"));
	/* one that hangs takes none, either */
	status.supervisor.reason = REASON_SESSION_DAEMON_HANGS;
	ck_assert(finds("lttng-hangs") && !finds("registration-held"));
}
END_TEST

/* The agent's JSON, byte for byte, but for what was found out beside. */
START_TEST(as_json)
{
	g_autofree char *before = agents(), *same = completed(before), *more = NULL;

	ck_assert_str_eq(same, before);
	ck_assert_ptr_nonnull(strstr(same, "\"programs\":0,\"programs_with_blkin\":null,"));
	census = (struct census){.known = true, .programs = 3, .blkin = 2};
	more = completed(before);
	ck_assert_ptr_nonnull(strstr(more, "\"programs\":3,\"programs_with_blkin\":2,"));
	ck_assert(g_str_has_suffix(more, "}]}\n"));
}
END_TEST

static void expect_codes(const char *expected)
{
	g_autofree char *found = codes();

	ck_assert_str_eq(found, expected);
}

/* What was found out has its place behind what is wrong with the session, which makes some of it unknown. */
START_TEST(order)
{
	status.progress = clock_monotonic();
	status.supervisor.since = status.progress - 60 * NS_PER_SECOND;
	status.supervisor.collecting = true;
	status.output_count = 0;
	reload.failed = true;
	expect_codes("no-program no-output reload-failed ");
	census = (struct census){.known = true, .programs = 1, .unrecorded = 1};
	expect_codes("no-blkin program-unrecorded no-output reload-failed ");
	census.stopped = 1;
	census.sampling_off = true;
	expect_codes("no-blkin program-stopped program-unrecorded no-output reload-failed ");
	census.blkin = 1;
	expect_codes("program-stopped program-unrecorded no-output reload-failed ");
	census.stopped = 0;
	expect_codes("sampling-off program-unrecorded no-output reload-failed ");
	census.events_off = true;
	expect_codes("events-disabled program-unrecorded no-output reload-failed ");
	status.left_out_count = 1;
	expect_codes("left-out program-unrecorded no-output reload-failed ");
	reload.failed = false;
}
END_TEST

/* Whatever is wrong with it, it is not understood, or understood as something else. In parts, as a sanitizer
 * takes long. */
#define PARTS 8
START_TEST(garbled)
{
	static const char *const garbage[] = {"", "null", "[]", "{}", "{\"pid\":1}", "{\"findings\":[{}]}",
		"{\"findings\":[]}", "\xff", "[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[["};
	static const char bad[] = "\"{}[],:\\9e-n.\x01\xff";
	g_autofree char *json = agents();
	size_t size = strlen(json) - 1; /* without the line's end */

	for (size_t i = 0; i < G_N_ELEMENTS(garbage); i++)
		ck_assert_ptr_null(text_of(garbage[i]));
	for (size_t i = (size_t)_i; i < size; i += PARTS) {
		g_autofree char *cut = g_strndup(json, i), *changed = g_strdup(json);

		ck_assert_ptr_null(text_of(cut));
		changed[i] = bad[i % (sizeof(bad) - 1)];
		g_free(text_of(changed));
	}
}
END_TEST

/* A copy in which @from stands as @to, from @begin on; g_free. */
static char *replaced(const char *json, const char *begin, const char *from, const char *to)
{
	const char *at = strstr(json, begin);
	GString *rest = g_string_new(at), *whole = g_string_new_len(json, at - json);

	ck_assert_ptr_nonnull(strstr(rest->str, from));
	g_string_replace(rest, from, to, 0);
	g_string_append(whole, rest->str);
	g_string_free(rest, TRUE);
	return g_string_free(whole, FALSE);
}

/* Nothing that a terminal obeys comes through, as text and as JSON. */
START_TEST(lying)
{
	g_autofree char *json = agents(), *text = NULL, *for_text = NULL, *for_json = NULL, *shown = NULL;
	g_autofree char *kind =
		replaced(json, "\"outputs\":", "\"kind\":\"spans\"", "\"kind\":\"\\u001b]0;\"");

	for_text = replaced(kind, "\"outputs\":", "\"spans\":{", "\"\\u001b]0;\":{");
	text = text_of(for_text);
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_null(strchr(text, '\x1b'));
	for_json = replaced(json, "{", "\"version\":\"", "\"version\":\"\x7f\xc2\x9b\xe2\x80\xae\x9b");
	shown = completed(for_json);
	ck_assert_ptr_nonnull(strstr(shown, "\"version\":\"\\u007f\\u009b\\u202e\xef\xbf\xbd" BLKIN_VERSION));
}
END_TEST

/* JSON may have blanks where ours has none. */
START_TEST(blanks)
{
	g_autofree char *json = NULL, *spaced = NULL, *text = NULL;

	status.supervisor.collecting = false;
	json = agents();
	spaced = replaced(json, "{", "\"collecting\":", "\"collecting\" :\t ");
	text = text_of(spaced);
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(strstr(text, "collecting  NO"));
}
END_TEST

/* The agent counts what is connected to the session daemon, which may be another agent's canary. */
START_TEST(canary_of_another)
{
	status.progress = clock_monotonic();
	status.supervisor.since = status.progress - 60 * NS_PER_SECOND;
	status.supervisor.collecting = true;
	status.activity.programs = 1;
	status.output_count = 0;
	expect_codes("no-output ");
	census.known = true;
	expect_codes("no-program no-output ");
	status.rows.row[SPANS_RECEIVED] = 1;
	expect_codes("no-output ");
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("status");

	tcase_add_checked_fixture(cases, setup, teardown);
	tcase_add_loop_test(cases, latency, 0, sizeof(latencies) / sizeof(*latencies));
	tcase_add_test(cases, sizes);
	tcase_add_test(cases, spool_file);
	tcase_add_test(cases, rate);
	tcase_add_test(cases, programs);
	tcase_add_test(cases, losses);
	tcase_add_test(cases, connecting);
	tcase_add_test(cases, waits_for_stopped);
	tcase_add_test(cases, waits_to_be_registered);
	tcase_add_test(cases, as_json);
	tcase_add_test(cases, order);
	tcase_add_loop_test(cases, garbled, 0, PARTS);
	tcase_add_test(cases, lying);
	tcase_add_test(cases, blanks);
	tcase_add_test(cases, canary_of_another);
	tcase_add_loop_test(cases, failing, 0, sizeof(failures) / sizeof(*failures));
	tcase_add_test(cases, nothing_sent_yet);
	tcase_add_test(cases, no_buffers_yet);
	tcase_add_test(cases, shares);
	tcase_add_test(cases, balance);
	tcase_add_test(cases, unsteady);
	tcase_add_test(cases, without_ring_buffers);
	tcase_add_loop_test(cases, session_comes_and_goes, 0, sizeof(gone) / sizeof(*gone));
	tcase_add_loop_test(cases, not_collecting, 0, sizeof(pauses) / sizeof(*pauses));
	tcase_add_loop_test(cases, silent, 0, sizeof(silences) / sizeof(*silences));
	tcase_add_test(cases, no_program_any_more);
	tcase_add_loop_test(cases, canary, 0, sizeof(canaries) / sizeof(*canaries));
	tcase_add_test(cases, kernel_is_told_once);
	tcase_add_test(cases, kernel_missing);
	tcase_add_loop_test(cases, kernel_consumer, 0, G_N_ELEMENTS(kernels));
	tcase_add_test(cases, canary_of_slow_timer);
	return run_cases("status", cases);
}
