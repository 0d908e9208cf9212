/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/machine.h"

#include <string.h>

#include "why/callname.h"
#include "why/processor.h"
#include "why/thread.h"

struct machine {
	GHashTable *threads; /* struct thread by its number */
	GHashTable *cpus;    /* struct processor by its number */
	int64_t time;        /* of the last event */
	uint64_t completions, calls;
	bool sorted, all_calls;
	bool gap;          /* events are missing, */
	int64_t gap_until; /* until then */
	bool recorded[KERNEL_KINDS];
};

/* Creation */

struct machine *machine_create(const bool recorded[KERNEL_KINDS], bool all_calls)
{
	struct machine *machine = g_new0(struct machine, 1);

	machine->threads = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, thread_free);
	machine->cpus = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, processor_free);
	machine->time = INT64_MIN;
	machine->all_calls = all_calls;
	memcpy(machine->recorded, recorded, sizeof(machine->recorded));
	return machine;
}

void machine_destroy(struct machine *machine)
{
	g_hash_table_unref(machine->threads);
	g_hash_table_unref(machine->cpus);
	g_free(machine);
}

void machine_want(struct machine *machine, int64_t tid, int64_t start, int64_t end, struct tally *tally)
{
	struct thread *thread = g_hash_table_lookup(machine->threads, &tid);

	if (!thread) {
		thread = thread_create(tid, !machine->recorded[KERNEL_SWITCH]);
		g_hash_table_insert(machine->threads, &thread->tid, thread);
	}
	thread_want(thread, start, end, tally);
	machine->sorted = false;
}

void machine_prove(struct machine *machine, int64_t tid, int64_t time)
{
	struct thread *thread = g_hash_table_lookup(machine->threads, &tid);

	if (thread)
		thread_prove(thread, time);
}

bool machine_is_wrong(const struct machine *machine)
{
	GHashTableIter all;
	void *thread;

	g_hash_table_iter_init(&all, machine->threads);
	while (g_hash_table_iter_next(&all, NULL, &thread))
		if (((struct thread *)thread)->doubts->len)
			return true;
	return false;
}

void machine_correct(struct machine *machine, const struct machine *wrong)
{
	GHashTableIter all;
	void *data;

	g_hash_table_iter_init(&all, machine->threads);
	while (g_hash_table_iter_next(&all, NULL, &data)) {
		struct thread *thread = data, *other = g_hash_table_lookup(wrong->threads, &thread->tid);

		if (other)
			thread->given = other->doubts;
	}
}

static void sort(struct machine *machine)
{
	GHashTableIter all;
	void *thread;

	g_hash_table_iter_init(&all, machine->threads);
	while (g_hash_table_iter_next(&all, NULL, &thread))
		thread_sort(thread);
	machine->sorted = true;
}

static enum part part_of(const struct machine *machine, const struct thread *thread)
{
	const struct circumstances known = {.state = thread->reason,
		.call = thread->call,
		.fault = thread->fault,
		.in_fault = thread->in_fault,
		.outside = thread->outside && machine->all_calls,
		.disk = machine->completions != thread->completions,
		.disk_unknown = !machine->recorded[KERNEL_BLOCK_COMPLETE]};

	return machine->gap ? PART_UNKNOWN : part_of_wait(&known);
}

/* Processors */

static struct processor *find_cpu(struct machine *machine, int64_t number)
{
	struct processor *cpu = number == KERNEL_UNKNOWN ? NULL : g_hash_table_lookup(machine->cpus, &number);

	if (cpu || number == KERNEL_UNKNOWN || g_hash_table_size(machine->cpus) >= MACHINE_CPUS_MAX)
		return cpu;
	cpu = processor_create();
	g_hash_table_insert(machine->cpus, g_memdup2(&number, sizeof(number)), cpu);
	return cpu;
}

/* @state: with or without a processor, and the thread stands there. */
static void move(struct machine *machine, struct thread *thread, enum state state, int64_t number)
{
	struct processor *from = find_cpu(machine, thread->cpu), *to = find_cpu(machine, number);

	if (from)
		g_ptr_array_remove_fast(from->here, thread);
	thread->cpu = number;
	thread->state = state;
	thread->woken = false;
	thread->placed = true;
	if (to)
		g_ptr_array_add(to->here, thread);
}

/* The piece that ends now, as far as it is known without the event at hand. */
static void close_state(struct machine *machine, struct thread *thread)
{
	const struct processor *cpu = find_cpu(machine, thread->cpu);

	switch (thread->state) {
	case STATE_UNKNOWN:
		thread_close_piece(thread, machine->time, PART_UNKNOWN, NULL);
		break;
	case STATE_RUNNING:
		thread_close_piece(
			thread, machine->time, cpu && cpu->nested ? PART_INTERRUPTED : PART_CPU, NULL);
		break;
	case STATE_RUNNABLE:
		if (machine->gap)
			thread_close_piece(thread, machine->time, PART_UNKNOWN, NULL);
		else
			thread_queue_piece(thread, machine->time, cpu ? &cpu->whom : NULL);
		break;
	case STATE_WAITING:
		thread_close_piece(thread, machine->time, part_of(machine, thread), NULL);
		break;
	}
}

/* It is elsewhere than it was thought to be. */
static void lose(struct machine *machine, struct thread *thread, enum state state, int64_t number)
{
	thread_close_piece(thread, machine->time, PART_UNKNOWN, NULL);
	thread->call = (struct text){0};
	thread->fault = thread->in_fault = thread->outside = false;
	thread->waker = (struct whom){0};
	move(machine, thread, state, number);
	if (state == STATE_RUNNING)
		thread_know(thread, machine->time);
}

/* Where an event happened a thread runs: who else was thought to run there has gone. */
static void settle_cpu(struct machine *machine, struct processor *cpu, int64_t tid)
{
	for (guint i = 0; i < cpu->here->len;) {
		struct thread *thread = cpu->here->pdata[i];

		if (thread->state == STATE_RUNNING && thread->tid != tid)
			lose(machine, thread, STATE_UNKNOWN, KERNEL_UNKNOWN);
		else
			i++;
	}
	if (cpu->current != tid)
		processor_run(cpu, tid, (struct text){0});
}

/* The thread that an event is of runs there. */
static void be_here(struct machine *machine, int64_t tid, int64_t number)
{
	struct thread *thread = g_hash_table_lookup(machine->threads, &tid);
	struct processor *cpu = find_cpu(machine, number);

	if (cpu)
		settle_cpu(machine, cpu, tid);
	if (thread && (thread->state != STATE_RUNNING || thread->cpu != number))
		lose(machine, thread, STATE_RUNNING, number);
	else if (thread)
		thread_know(thread, machine->time);
}

/* Switches */

/* While threads waited for this processor another one ran on it. */
static void tell_runners(struct machine *machine, struct processor *cpu)
{
	for (guint i = 0; i < cpu->here->len; i++) {
		struct thread *thread = cpu->here->pdata[i];

		if (thread->state == STATE_RUNNABLE)
			close_state(machine, thread);
	}
}

static void go_away(struct machine *machine, struct thread *thread, const struct kernel_event *event)
{
	close_state(machine, thread);
	thread_know(thread, machine->time);
	if (part_is_preempted(event->prev_state)) {
		move(machine, thread, STATE_RUNNABLE, event->cpu);
		return;
	}
	move(machine, thread, STATE_WAITING, KERNEL_UNKNOWN);
	thread->reason = event->prev_state;
	thread->completions = machine->completions;
}

static void come(struct machine *machine, struct thread *thread, const struct kernel_event *event)
{
	if (thread->state == STATE_RUNNING)
		lose(machine, thread, STATE_RUNNING, event->cpu);
	close_state(machine, thread);
	thread_settle_queued(thread, thread->cpu == event->cpu);
	thread_know(thread, machine->time);
	move(machine, thread, STATE_RUNNING, event->cpu);
	thread->waker = (struct whom){0};
}

static void take_switch(struct machine *machine, const struct kernel_event *event)
{
	struct thread *prev = g_hash_table_lookup(machine->threads, &event->prev);
	struct thread *next = g_hash_table_lookup(machine->threads, &event->next);
	struct processor *cpu = find_cpu(machine, event->cpu);

	if (event->prev != KERNEL_UNKNOWN)
		be_here(machine, event->prev, event->cpu);
	if (cpu)
		processor_name(cpu, event);
	if (prev && event->prev_state != KERNEL_UNKNOWN)
		go_away(machine, prev, event);
	else if (prev)
		lose(machine, prev, STATE_UNKNOWN, KERNEL_UNKNOWN);
	if (cpu)
		tell_runners(machine, cpu);
	if (next)
		come(machine, next, event);
	if (cpu)
		processor_run(cpu, event->next, event->next_name);
}

/* Wake-ups */

/* In between it ran, and waited again, where nothing was recorded. */
static void wake_again(struct machine *machine, struct thread *thread, const struct kernel_event *event)
{
	close_state(machine, thread);
	thread_doubt(thread);
	thread_know(thread, machine->time);
	move(machine, thread, STATE_RUNNABLE, event->target);
	thread->woken = true;
	thread->placed = false;
}

/* It is queued now: sched_waking only tells where it was before. */
static void queue(struct machine *machine, struct thread *thread, const struct kernel_event *event)
{
	bool woken = thread->woken;

	if (thread->state != STATE_RUNNABLE || event->target == KERNEL_UNKNOWN)
		return;
	thread->placed = true;
	if (event->target == thread->cpu)
		return;
	close_state(machine, thread);
	thread_settle_queued(thread, false);
	move(machine, thread, STATE_RUNNABLE, event->target);
	thread->woken = woken;
}

static void take_waking(struct machine *machine, const struct kernel_event *event)
{
	struct thread *thread = g_hash_table_lookup(machine->threads, &event->other);
	struct whom waker = {0};
	enum part part;

	if (!thread)
		return;
	if (event->kind == KERNEL_WAKING)
		waker = processor_actor(find_cpu(machine, event->cpu));
	if (thread->state != STATE_WAITING) {
		/* it is about to go away, or has been woken already */
		if (event->kind == KERNEL_WAKING)
			thread->waker = waker;
		if (event->kind == KERNEL_WAKING && thread->woken)
			wake_again(machine, thread, event);
		if (event->kind == KERNEL_WAKEUP)
			queue(machine, thread, event);
		return;
	}
	if (event->kind == KERNEL_WAKEUP)
		waker = thread->waker;
	part = part_of(machine, thread);
	/* who sleeps is woken by a timer, whoever it interrupts */
	if (part == PART_SLEEP && waker.kind == WHOM_THREAD && !machine->recorded[KERNEL_TIMER_ENTRY])
		waker = (struct whom){0};
	thread_close_piece(thread, machine->time, part, &waker);
	thread_know(thread, machine->time);
	move(machine, thread, STATE_RUNNABLE, event->target);
	thread->woken = event->kind == KERNEL_WAKING;
	thread->placed = event->kind == KERNEL_WAKEUP;
}

static void take_migration(struct machine *machine, const struct kernel_event *event)
{
	struct thread *thread = g_hash_table_lookup(machine->threads, &event->other);

	if (!thread || thread->state != STATE_RUNNABLE)
		return;
	close_state(machine, thread);
	thread_settle_queued(thread, thread->placed);
	thread_know(thread, machine->time);
	move(machine, thread, STATE_RUNNABLE, event->target);
}

/* What threads do, and what is done to them */

static struct thread *current_thread(struct machine *machine, const struct kernel_event *event)
{
	struct processor *cpu = find_cpu(machine, event->cpu);
	int64_t tid = event->tid != KERNEL_UNKNOWN ? event->tid : cpu ? cpu->current : KERNEL_UNKNOWN;

	return tid == KERNEL_UNKNOWN ? NULL : g_hash_table_lookup(machine->threads, &tid);
}

/* No interrupt makes a system call: one that has not ended has done so, where nothing was recorded. */
static void leave_interrupts(struct machine *machine, struct processor *cpu)
{
	if (!cpu || !cpu->nested)
		return;
	for (guint i = 0; i < cpu->here->len; i++) {
		struct thread *thread = cpu->here->pdata[i];

		if (thread->state == STATE_RUNNING)
			thread_close_piece(thread, machine->time, PART_UNKNOWN, NULL);
	}
	cpu->nested = 0;
}

static void take_call(struct machine *machine, const struct kernel_event *event)
{
	struct thread *thread = current_thread(machine, event);

	leave_interrupts(machine, find_cpu(machine, event->cpu));
	if (!thread)
		return;
	close_state(machine, thread);
	thread->fault = thread->in_fault = false;
	thread->outside = event->kind == KERNEL_CALL_EXIT;
	thread->call = (struct text){0};
	if (event->kind == KERNEL_CALL_EXIT)
		return;
	thread->call = call_keep(event->name);
	thread->call_number = ++machine->calls;
}

static void take_fault(struct machine *machine, const struct kernel_event *event)
{
	struct thread *thread = current_thread(machine, event);

	if (!thread)
		return;
	close_state(machine, thread);
	thread->fault = event->kind == KERNEL_FAULT;
	thread->in_fault = event->kind == KERNEL_FAULT_ENTRY;
}

static void tell_running(struct machine *machine, struct processor *cpu)
{
	for (guint i = 0; i < cpu->here->len; i++) {
		struct thread *thread = cpu->here->pdata[i];

		if (thread->state == STATE_RUNNING)
			close_state(machine, thread);
	}
}

static void take_interrupt(struct machine *machine, const struct kernel_event *event)
{
	struct processor *cpu = find_cpu(machine, event->cpu);

	if (!cpu)
		return;
	tell_running(machine, cpu);
	processor_interrupt(cpu, event);
}

/* Who does not run may have done so meanwhile, and may wait for another thing now. */
static void end_gap(struct machine *machine)
{
	GHashTableIter all;
	void *data;

	g_hash_table_iter_init(&all, machine->threads);
	while (g_hash_table_iter_next(&all, NULL, &data)) {
		struct thread *thread = data;

		if (thread->state > STATE_RUNNING)
			lose(machine, thread, STATE_UNKNOWN, KERNEL_UNKNOWN);
	}
	machine->gap = false;
}

void machine_take(struct machine *machine, const struct kernel_event *event)
{
	struct processor *cpu;

	if (!machine->sorted)
		sort(machine);
	if (machine->gap && event->time >= machine->gap_until)
		end_gap(machine);
	machine->time = MAX(machine->time, event->time);
	if (event->kind == KERNEL_SWITCH) {
		take_switch(machine, event);
		return;
	}
	if (event->tid != KERNEL_UNKNOWN) {
		be_here(machine, event->tid, event->cpu);
		cpu = find_cpu(machine, event->cpu);
		if (cpu)
			processor_name(cpu, event);
	}
	switch (event->kind) {
	case KERNEL_WAKING:
	case KERNEL_WAKEUP:
		take_waking(machine, event);
		break;
	case KERNEL_MIGRATE:
		take_migration(machine, event);
		break;
	case KERNEL_CALL_ENTRY:
	case KERNEL_CALL_EXIT:
		take_call(machine, event);
		break;
	case KERNEL_FAULT:
	case KERNEL_FAULT_ENTRY:
	case KERNEL_FAULT_EXIT:
		take_fault(machine, event);
		break;
	case KERNEL_BLOCK_COMPLETE:
		machine->completions++;
		break;
	case KERNEL_IRQ_ENTRY:
	case KERNEL_IRQ_EXIT:
	case KERNEL_SOFTIRQ_ENTRY:
	case KERNEL_SOFTIRQ_EXIT:
	case KERNEL_TIMER_ENTRY:
	case KERNEL_TIMER_EXIT:
		take_interrupt(machine, event);
		break;
	case KERNEL_ANOTHER:
	case KERNEL_SWITCH:
	case KERNEL_KINDS:
		break;
	}
}

void machine_doubt(struct machine *machine, int64_t until)
{
	GHashTableIter all;
	void *data;

	g_hash_table_iter_init(&all, machine->threads);
	while (g_hash_table_iter_next(&all, NULL, &data))
		lose(machine, data, STATE_UNKNOWN, KERNEL_UNKNOWN);
	g_hash_table_iter_init(&all, machine->cpus);
	while (g_hash_table_iter_next(&all, NULL, &data))
		processor_run(data, KERNEL_UNKNOWN, (struct text){0});
	machine->gap_until = machine->gap ? MAX(machine->gap_until, until) : until;
	machine->gap = true;
}

void machine_end(struct machine *machine)
{
	GHashTableIter all;
	void *data;

	if (!machine->sorted)
		sort(machine);
	g_hash_table_iter_init(&all, machine->threads);
	while (g_hash_table_iter_next(&all, NULL, &data)) {
		struct thread *thread = data;

		thread_end(thread);
		close_state(machine, thread);
		thread->call = (struct text){0};
		thread_close_piece(thread, INT64_MAX, PART_UNKNOWN, NULL);
	}
}
