/* SPDX-License-Identifier: BSD-2-Clause */
/* `blkin why`: events of the kernel as records, what a wait is, and bounds. Whole stories:
 * tests/live/test_why.py. */
#include <check.h>
#include <string.h>

#include <glib.h>

#include "core/eventrecord.h"
#include "import/aroundspans.h"
#include "import/kernelevent.h"
#include "import/numbers.h"
#include "why/callname.h"
#include "why/machine.h"
#include "why/part.h"
#include "why/tally.h"

#include "run.h"

static struct text text_of(const char *text)
{
	return (struct text){text, (uint32_t)strlen(text)};
}

/* Records */

static void put_name(struct buffer *out, const char *name)
{
	event_put_text(out, name, strlen(name));
}

static void put_number(struct buffer *out, const char *name, int64_t number)
{
	put_name(out, name);
	event_put_number(out, FIELD_SIGNED, varint_fold(number));
}

/* A switch with all that it may have, and more. */
static void put_switch(struct buffer *out, const char *domain)
{
	struct event_head head = {
		.moment = {MOMENT_TIME, 0, 12345}, .host = text_of("h"), .name = text_of("sched_switch")};
	size_t begin;

	head.domain = text_of(domain);
	head.facts.cpu = (struct known_number){true, 3};
	event_record_begin(out, &head, 1 << SCOPE_COMMON | 1 << SCOPE_PAYLOAD);
	begin = event_scope_open(out);
	event_put_count(out, 3);
	put_number(out, "tid", 7);
	put_name(out, "list");
	event_put_kind(out, FIELD_ARRAY);
	event_put_count(out, 2);
	event_put_real(out, FIELD_DOUBLE, 1.5);
	event_put_kind(out, FIELD_OPTION);
	put_name(out, "procname");
	event_put_kind(out, FIELD_STRING);
	put_name(out, "worker");
	event_scope_close(out, begin);
	begin = event_scope_open(out);
	event_put_count(out, 5);
	put_number(out, "prev_tid", 7);
	put_name(out, "prev_state");
	event_put_number(out, FIELD_SIGNED_ENUM, varint_fold(2));
	event_put_count(out, 1);
	put_name(out, "TASK_UNINTERRUPTIBLE");
	put_name(out, "deep");
	event_put_kind(out, FIELD_STRUCTURE);
	event_put_count(out, 1);
	put_number(out, "next_tid", 99);
	put_number(out, "next_tid", 8);
	put_name(out, "next_comm");
	event_put_kind(out, FIELD_STRING);
	put_name(out, "other");
	event_scope_close(out, begin);
}

START_TEST(record)
{
	struct buffer bytes = {0};
	struct kernel_event event;

	put_switch(&bytes, "kernel");
	ck_assert(kernel_event_read(&event, bytes.data, bytes.size));
	ck_assert_int_eq(event.kind, KERNEL_SWITCH);
	ck_assert_int_eq(event.time, 12345);
	ck_assert_int_eq(event.cpu, 3);
	ck_assert_int_eq(event.tid, 7);
	ck_assert_int_eq(event.vtid, KERNEL_UNKNOWN);
	ck_assert_int_eq(event.prev, 7);
	ck_assert_int_eq(event.prev_state, 2);
	ck_assert_int_eq(event.next, 8);
	ck_assert(text_is(event.program, "worker") && text_is(event.next_name, "other"));
	bytes.size = 0;
	put_switch(&bytes, "ust");
	ck_assert(!kernel_event_read(&event, bytes.data, bytes.size));
	buffer_free(&bytes);
}
END_TEST

/* Any byte may be any other. */
START_TEST(damaged_record)
{
	struct buffer bytes = {0};
	struct kernel_event event;

	put_switch(&bytes, "kernel");
	for (size_t size = 0; size < bytes.size; size++) {
		g_autofree uint8_t *cut = g_memdup2(bytes.data, size);

		ck_assert(!kernel_event_read(&event, cut, size));
	}
	for (size_t i = 0; i < bytes.size; i++)
		for (int value = 0; value < 256; value++) {
			g_autofree uint8_t *copy = g_memdup2(bytes.data, bytes.size);

			copy[i] = (uint8_t)value;
			kernel_event_read(&event, copy, bytes.size);
		}
	buffer_free(&bytes);
}
END_TEST

START_TEST(names)
{
	static const struct {
		const char *name;
		enum kernel_kind kind;
		const char *call;
	} cases[] = {
		{"syscall_entry_futex", KERNEL_CALL_ENTRY, "futex"},
		{"compat_syscall_exit_read", KERNEL_CALL_EXIT, "read"},
		{"sched_wakeup_new", KERNEL_WAKEUP, ""},
		{"x86_exceptions_page_fault_user", KERNEL_FAULT, ""},
		{"page_fault_kernel", KERNEL_FAULT, ""},
		{"filemap_fault_entry", KERNEL_FAULT_ENTRY, ""},
		{"do_swap_page_exit", KERNEL_FAULT_EXIT, ""},
		{"sched_switched", KERNEL_ANOTHER, ""},
		{"syscall_entry", KERNEL_ANOTHER, ""},
		{"", KERNEL_ANOTHER, ""},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		struct event_head head = {.moment = {MOMENT_TIME, 0, 1}, .domain = text_of("kernel")};
		struct buffer bytes = {0};
		struct kernel_event event;

		head.name = text_of(cases[i].name);
		event_record_begin(&bytes, &head, 0);
		ck_assert(kernel_event_read(&event, bytes.data, bytes.size));
		ck_assert_int_eq(event.kind, cases[i].kind);
		ck_assert(text_is_equal(event.name, text_of(cases[i].call)));
		ck_assert_int_eq(event.cpu, KERNEL_UNKNOWN);
		buffer_free(&bytes);
	}
}
END_TEST

/* Parts */

START_TEST(waits)
{
	static const struct {
		int64_t state;
		const char *call;
		bool fault, in_fault, outside, disk, disk_unknown;
		enum part part;
	} cases[] = {
		{1, "futex", .part = PART_LOCK},
		{1, "epoll_wait", .part = PART_NETWORK},
		{1, "read", .part = PART_NETWORK},
		{2, "read", .disk = true, .part = PART_DISK},
		{2, "read", .fault = true, .disk = true, .part = PART_DISK},
		{2, "read", .in_fault = true, .disk = true, .part = PART_FAULT},
		{2, "read", .part = PART_OTHER},
		{2, "read", .disk_unknown = true, .part = PART_DISK},
		{0x102, "fsync", .disk = true, .part = PART_DISK},
		{1, "fsync", .disk = true, .part = PART_OTHER},
		{1, "io_uring_enter", .disk = true, .part = PART_DISK},
		{1, "io_uring_enter", .part = PART_OTHER},
		{1, "clock_nanosleep", .part = PART_SLEEP},
		{1, "wait4", .part = PART_OTHER},
		{1, NULL, .part = PART_OTHER},
		{2, NULL, .outside = true, .disk = true, .part = PART_FAULT},
		{2, NULL, .fault = true, .part = PART_FAULT},
		{2, NULL, .disk = true, .part = PART_DISK},
		{2, NULL, .part = PART_OTHER},
		{2, "futex", .fault = true, .disk = true, .part = PART_FAULT},
		{4, NULL, .part = PART_OTHER},
	};

	for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
		const struct circumstances known = {.state = cases[i].state,
			.call = cases[i].call ? text_of(cases[i].call) : (struct text){0},
			.fault = cases[i].fault,
			.in_fault = cases[i].in_fault,
			.outside = cases[i].outside,
			.disk = cases[i].disk,
			.disk_unknown = cases[i].disk_unknown};

		ck_assert_msg(part_of_wait(&known) == cases[i].part, "case %zu", i);
	}
	ck_assert(part_is_preempted(0) && part_is_preempted(256) && part_is_preempted(1024));
	ck_assert(!part_is_preempted(1) && !part_is_preempted(0x402));
}
END_TEST

/* Bounds */

START_TEST(tally_is_bounded)
{
	struct tally tally;
	uint64_t number = 0;

	tally_init(&tally);
	for (int64_t i = 0; i < 1000; i++) {
		g_autofree char *call = g_strdup_printf("call%d", (int)i);
		struct piece piece = {.begin = 2 * i,
			.end = 2 * i + 1,
			.part = PART_LOCK,
			.call = call_keep(text_of(call)),
			.number = ++number,
			.whom = {.kind = WHOM_THREAD, .number = i, .pid = i}};

		tally_add(&tally, &piece, 0, 10000);
		piece.begin++;
		piece.end++;
		piece.part = PART_RUNNABLE;
		tally_add(&tally, &piece, 0, 10000);
	}
	ck_assert_uint_eq(tally.calls->len, TALLY_MAX + 1);
	ck_assert_uint_eq(tally.waits->len, TALLY_MAX + 1);
	ck_assert_uint_eq(tally.runners->len, TALLY_MAX + 1);
	ck_assert_int_eq(tally.part[PART_LOCK], 1000);
	tally_sort(&tally);
	ck_assert_int_eq(g_array_index(tally.calls, struct call, 0).time, 2000 - 2 * TALLY_MAX);
	ck_assert_int_eq(g_array_index(tally.waits, struct wait, 0).time, 1000 - TALLY_MAX);
	ck_assert_int_eq(g_array_index(tally.waits, struct wait, 0).whom.kind, WHOM_OTHERS);
	ck_assert_int_eq(g_array_index(tally.runners, struct runner, 0).time, 1000 - TALLY_MAX);
	ck_assert_ptr_nonnull(tally_main_wait(&tally, PART_LOCK));
	ck_assert_int_eq(tally_main_wait(&tally, PART_LOCK)->whom.kind, WHOM_THREAD);
	tally_free(&tally);
}
END_TEST

/* The rest of the waits is told of each part by itself: they add up to it. */
START_TEST(waits_that_are_too_many)
{
	int64_t sum[PARTS] = {0};
	struct tally tally;

	tally_init(&tally);
	for (int64_t i = 0; i < 1000; i++) {
		struct piece piece = {.begin = i,
			.end = i + 1,
			.part = i % 2 ? PART_LOCK : PART_DISK,
			.whom = {.kind = WHOM_THREAD, .number = i, .pid = i}};

		tally_add(&tally, &piece, 0, 1000);
	}
	tally_sort(&tally);
	ck_assert_uint_eq(tally.waits->len, TALLY_MAX + 2);
	for (guint i = 0; i < tally.waits->len; i++) {
		const struct wait *wait = &g_array_index(tally.waits, struct wait, i);

		sum[wait->part] += wait->time;
	}
	ck_assert(sum[PART_LOCK] == 500 && sum[PART_DISK] == 500);
	tally_free(&tally);
}
END_TEST

/* A name of a call is kept for ever, so there are not more than the kernel could have. */
START_TEST(names_are_bounded)
{
	struct text known = call_keep(text_of("known"));

	for (int i = 0; i < 2 * CALLS_MAX; i++) {
		g_autofree char *call = g_strdup_printf("name%d", i);

		call_keep(text_of(call));
	}
	ck_assert_ptr_eq(call_keep(text_of("known")).data, known.data);
	ck_assert_uint_eq(call_keep(text_of("one too many")).size, 0);
}
END_TEST

/* Of more processors than there are, and of none. */
START_TEST(processors_are_bounded)
{
	static const bool recorded[KERNEL_KINDS] = {[KERNEL_SWITCH] = true, [KERNEL_WAKING] = true};
	struct machine *machine = machine_create(recorded, false);
	struct tally tally;

	tally_init(&tally);
	machine_want(machine, 7, 0, 100000, &tally);
	for (int64_t i = 0; i < 3 * MACHINE_CPUS_MAX; i++) {
		struct kernel_event event = {.kind = i % 3 ? KERNEL_SWITCH : KERNEL_WAKING,
			.time = i,
			.cpu = i % 7 ? i : KERNEL_UNKNOWN,
			.tid = KERNEL_UNKNOWN,
			.pid = KERNEL_UNKNOWN,
			.prev = i % 2 ? 7 : i,
			.next = i % 2 ? i : 7,
			.prev_state = i % 5,
			.other = 7,
			.target = i * 5};

		machine_take(machine, &event);
	}
	machine_doubt(machine, 0);
	machine_end(machine);
	machine_destroy(machine);
	{
		int64_t sum = 0;

		for (enum part part = 0; part < PARTS; part++)
			sum += tally.part[part];
		ck_assert_int_eq(sum, 100000);
	}
	tally_free(&tally);
}
END_TEST

/* Losses */

static const bool all_recorded[KERNEL_KINDS] = {[KERNEL_SWITCH] = true,
	[KERNEL_WAKING] = true,
	[KERNEL_CALL_ENTRY] = true,
	[KERNEL_CALL_EXIT] = true,
	[KERNEL_IRQ_ENTRY] = true,
	[KERNEL_IRQ_EXIT] = true};

/* One of thread 7, on CPU 0. */
static struct kernel_event event_of(enum kernel_kind kind, int64_t time)
{
	return (struct kernel_event){.kind = kind,
		.time = time,
		.cpu = 0,
		.pid = 7,
		.tid = 7,
		.number = 27,
		.name = text_of("name"),
		.prev = KERNEL_UNKNOWN,
		.next = KERNEL_UNKNOWN,
		.other = KERNEL_UNKNOWN,
		.target = KERNEL_UNKNOWN};
}

static void take(struct machine *machine, enum kernel_kind kind, int64_t time)
{
	struct kernel_event event = event_of(kind, time);

	machine_take(machine, &event);
}

static void wake(struct machine *machine, int64_t other, int64_t time)
{
	struct kernel_event event = event_of(KERNEL_WAKING, time);

	event.other = other;
	event.target = 0;
	machine_take(machine, &event);
}

static void go_away(struct machine *machine, int64_t tid, int64_t cpu, int64_t time)
{
	struct kernel_event event = event_of(KERNEL_SWITCH, time);

	event.tid = event.prev = tid;
	event.next = 0;
	event.cpu = cpu;
	event.prev_state = 1;
	machine_take(machine, &event);
}

/* The end of an interrupt is lost: whether that is told, or a system call tells that it is over. */
START_TEST(interrupt_that_does_not_end)
{
	struct machine *machine = machine_create(all_recorded, false);
	struct tally tally, other;
	bool told = _i == 0;

	tally_init(&tally);
	tally_init(&other);
	machine_want(machine, 7, 0, 1000, &tally);
	machine_want(machine, 8, 0, 1000, &other);
	go_away(machine, 8, 1, 0);
	take(machine, KERNEL_ANOTHER, 0);
	take(machine, KERNEL_IRQ_ENTRY, 100);
	if (told) {
		machine_doubt(machine, 0);
		go_away(machine, 8, 1, 150);
	}
	take(machine, told ? KERNEL_ANOTHER : KERNEL_CALL_ENTRY, 200);
	wake(machine, 8, 500);
	go_away(machine, 7, 0, 1000);
	machine_end(machine);
	ck_assert_int_eq(tally.part[PART_INTERRUPTED], 0);
	ck_assert_int_eq(tally.part[PART_UNKNOWN], 100);
	ck_assert_int_eq(tally.part[PART_CPU], 900);
	ck_assert_int_eq(g_array_index(other.waits, struct wait, 0).whom.kind, WHOM_THREAD);
	machine_destroy(machine);
	tally_free(&tally);
	tally_free(&other);
}
END_TEST

/* Who ran on a processor before a loss need not do so behind it. */
START_TEST(runner_before_a_loss)
{
	struct machine *machine = machine_create(all_recorded, false);
	struct tally tally;

	tally_init(&tally);
	machine_want(machine, 8, 0, 1000, &tally);
	take(machine, KERNEL_ANOTHER, 0);
	machine_doubt(machine, 0);
	go_away(machine, 8, 1, 100);
	{
		struct kernel_event waking = event_of(KERNEL_WAKING, 200);

		waking.cpu = 1;
		waking.tid = 9;
		waking.other = 8;
		waking.target = 0;
		machine_take(machine, &waking);
		waking.kind = KERNEL_ANOTHER;
		waking.time = 500;
		machine_take(machine, &waking);
	}
	machine_end(machine);
	ck_assert_int_eq(tally.part[PART_RUNNABLE], 300);
	ck_assert_uint_eq(tally.runners->len, 1);
	ck_assert_int_eq(g_array_index(tally.runners, struct runner, 0).whom.kind, WHOM_UNKNOWN);
	machine_destroy(machine);
	tally_free(&tally);
}
END_TEST

START_TEST(numbers_of_threads)
{
	struct numbers *numbers = numbers_create();
	struct kernel_event event = {.pid = 1003, .tid = 1005, .vpid = 3, .vtid = 5};

	ck_assert_int_eq(numbers_find(numbers, 3, 5), 5);
	numbers_learn(numbers, &event);
	numbers_learn(numbers, &event);
	ck_assert_int_eq(numbers_find(numbers, 3, 5), 1005);
	ck_assert_int_eq(numbers_find(numbers, AROUND_UNKNOWN, 5), 1005);
	ck_assert_int_eq(numbers_find(numbers, 4, 5), 5);
	event.tid = 2005;
	event.vpid = 4;
	numbers_learn(numbers, &event);
	ck_assert_int_eq(numbers_find(numbers, 4, 5), 2005);
	ck_assert_int_eq(numbers_find(numbers, 3, 5), 1005);
	ck_assert_int_eq(numbers_find(numbers, AROUND_UNKNOWN, 5), NUMBER_AMBIGUOUS);
	for (event.vtid = 10; event.vtid < 200000; event.vtid++)
		numbers_learn(numbers, &event);
	numbers_destroy(numbers);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_add_test(cases, record);
	tcase_add_test(cases, damaged_record);
	tcase_add_test(cases, names);
	tcase_add_test(cases, waits);
	tcase_add_test(cases, tally_is_bounded);
	tcase_add_test(cases, waits_that_are_too_many);
	tcase_add_test(cases, names_are_bounded);
	tcase_add_test(cases, processors_are_bounded);
	tcase_add_loop_test(cases, interrupt_that_does_not_end, 0, 2);
	tcase_add_test(cases, runner_before_a_loss);
	tcase_add_test(cases, numbers_of_threads);
	return run_cases("why", cases);
}
