/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/threads.h"

#include <string.h>

/* Interrupts interrupt each other, but not much. */
#define NESTED_MAX 8

enum state { STATE_UNKNOWN, STATE_RUNNING, STATE_RUNNABLE, STATE_WAITING };

struct wanted {
	int64_t start, end;
	struct tally *tally;
};

struct thread {
	int64_t tid;
	GArray *spans;     /* of struct wanted, by their starts */
	guint next;        /* the first that has not begun */
	GPtrArray *active; /* of struct wanted, borrowed: those that have not ended */
	enum state state;
	int64_t since; /* all before it was told to the spans */
	int64_t cpu;   /* where it runs, or is to run */
	/* what it is in */
	struct text call;
	uint64_t call_number;
	bool fault, outside; /* of any system call that is recorded */
	bool blind;          /* it is not recorded when threads run */
	/* of a wait: */
	int64_t reason;       /* the kernel's prev_state */
	uint64_t completions; /* those of before */
	struct whom waker;    /* told before the thread has gone away, or unknown */
};

/* A processor. */
struct cpu {
	int64_t current;  /* the thread that runs, or KERNEL_UNKNOWN */
	struct whom whom; /* the same */
	GPtrArray *here;  /* of struct thread, borrowed: those that run, or are to run, on it */
	unsigned nested;  /* interrupts that it is in, */
	struct whom interrupt[NESTED_MAX]; /* the last of which is the innermost */
};

struct machine {
	GHashTable *threads; /* struct thread by its number */
	GHashTable *cpus;    /* struct cpu by its number */
	int64_t time;        /* of the last event */
	uint64_t completions, calls;
	bool sorted, all_calls;
	bool recorded[KERNEL_KINDS];
};

/* Names */

struct text machine_keep_name(struct text name)
{
	static GHashTable *kept;
	g_autofree char *copy = g_strndup(name.data, name.size);
	char *known;

	if (!kept)
		kept = g_hash_table_new(g_str_hash, g_str_equal);
	known = g_hash_table_lookup(kept, copy);
	if (!known && g_hash_table_size(kept) >= MACHINE_CALLS_MAX)
		return (struct text){"", 0};
	if (!known) {
		known = g_steal_pointer(&copy);
		g_hash_table_add(kept, known);
	}
	return (struct text){known, (uint32_t)strlen(known)};
}

/* Creation */

static void thread_free(void *data)
{
	struct thread *thread = data;

	g_array_unref(thread->spans);
	g_ptr_array_unref(thread->active);
	g_free(thread);
}

static void cpu_free(void *data)
{
	struct cpu *cpu = data;

	g_ptr_array_unref(cpu->here);
	g_free(cpu);
}

struct machine *machine_create(const bool recorded[KERNEL_KINDS], bool all_calls)
{
	struct machine *machine = g_new0(struct machine, 1);

	machine->threads = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, thread_free);
	machine->cpus = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, cpu_free);
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
	const struct wanted wanted = {start, end, tally};
	struct thread *thread = g_hash_table_lookup(machine->threads, &tid);

	if (!thread) {
		thread = g_new0(struct thread, 1);
		thread->tid = tid;
		thread->spans = g_array_new(FALSE, FALSE, sizeof(struct wanted));
		thread->active = g_ptr_array_new();
		thread->since = INT64_MIN;
		thread->blind = !machine->recorded[KERNEL_SWITCH];
		thread->cpu = KERNEL_UNKNOWN;
		g_hash_table_insert(machine->threads, &thread->tid, thread);
	}
	g_array_append_val(thread->spans, wanted);
	machine->sorted = false;
}

static gint compare_starts(gconstpointer left, gconstpointer right)
{
	const struct wanted *one = left, *other = right;

	return one->start < other->start ? -1 : one->start > other->start;
}

static void sort(struct machine *machine)
{
	GHashTableIter all;
	void *thread;

	g_hash_table_iter_init(&all, machine->threads);
	while (g_hash_table_iter_next(&all, NULL, &thread))
		g_array_sort(((struct thread *)thread)->spans, compare_starts);
	machine->sorted = true;
}

/* Pieces */

/* Tells a piece to the spans that it is in. */
static void tell(struct thread *thread, const struct piece *piece)
{
	for (; thread->next < thread->spans->len; thread->next++) {
		struct wanted *wanted = &g_array_index(thread->spans, struct wanted, thread->next);

		if (wanted->start > piece->end)
			break;
		g_ptr_array_add(thread->active, wanted);
	}
	for (guint i = 0; i < thread->active->len;) {
		const struct wanted *wanted = thread->active->pdata[i];

		tally_add(wanted->tally, piece, wanted->start, wanted->end);
		if (wanted->end < piece->end)
			g_ptr_array_remove_index_fast(thread->active, i);
		else
			i++;
	}
}

/* The time since the last piece was @part. */
static void close_piece(struct thread *thread, int64_t time, enum part part, const struct whom *whom)
{
	const struct piece piece = {.begin = thread->since,
		.end = time,
		.part = thread->blind ? PART_UNKNOWN : part,
		.call = thread->call,
		.number = thread->call_number,
		.whom = whom ? *whom : (struct whom){0}};

	tell(thread, &piece);
	thread->since = time;
}

static enum part part_of(const struct machine *machine, const struct thread *thread)
{
	const struct circumstances known = {.state = thread->reason,
		.call = thread->call,
		.fault = thread->fault,
		.outside = thread->outside && machine->all_calls,
		.disk = machine->completions != thread->completions,
		.disk_unknown = !machine->recorded[KERNEL_BLOCK_COMPLETE]};

	return part_of_wait(&known);
}

/* Processors */

static struct cpu *find_cpu(struct machine *machine, int64_t number)
{
	struct cpu *cpu = number == KERNEL_UNKNOWN ? NULL : g_hash_table_lookup(machine->cpus, &number);

	if (cpu || number == KERNEL_UNKNOWN || g_hash_table_size(machine->cpus) >= MACHINE_CPUS_MAX)
		return cpu;
	cpu = g_new0(struct cpu, 1);
	cpu->current = KERNEL_UNKNOWN;
	cpu->here = g_ptr_array_new();
	g_hash_table_insert(machine->cpus, g_memdup2(&number, sizeof(number)), cpu);
	return cpu;
}

/* @state: with or without a processor, and the thread stands there. */
static void move(struct machine *machine, struct thread *thread, enum state state, int64_t number)
{
	struct cpu *from = find_cpu(machine, thread->cpu), *to = find_cpu(machine, number);

	if (from)
		g_ptr_array_remove_fast(from->here, thread);
	thread->cpu = number;
	thread->state = state;
	if (to)
		g_ptr_array_add(to->here, thread);
}

/* The piece that ends now, as far as it is known without the event at hand. */
static void close_state(struct machine *machine, struct thread *thread)
{
	const struct cpu *cpu = find_cpu(machine, thread->cpu);

	switch (thread->state) {
	case STATE_UNKNOWN:
		close_piece(thread, machine->time, PART_UNKNOWN, NULL);
		break;
	case STATE_RUNNING:
		close_piece(thread, machine->time, cpu && cpu->nested ? PART_INTERRUPTED : PART_CPU, NULL);
		break;
	case STATE_RUNNABLE:
		close_piece(thread, machine->time, PART_RUNNABLE, cpu ? &cpu->whom : NULL);
		break;
	case STATE_WAITING:
		close_piece(thread, machine->time, part_of(machine, thread), NULL);
		break;
	}
}

/* It is elsewhere than it was thought to be. */
static void lose(struct machine *machine, struct thread *thread, enum state state, int64_t number)
{
	close_piece(thread, machine->time, PART_UNKNOWN, NULL);
	thread->call = (struct text){0};
	thread->fault = thread->outside = false;
	thread->waker = (struct whom){0};
	move(machine, thread, state, number);
}

/* Where an event happened a thread runs: who else was thought to run there has gone. */
static void settle_cpu(struct machine *machine, struct cpu *cpu, int64_t tid)
{
	for (guint i = 0; i < cpu->here->len;) {
		struct thread *thread = cpu->here->pdata[i];

		if (thread->state == STATE_RUNNING && thread->tid != tid)
			lose(machine, thread, STATE_UNKNOWN, KERNEL_UNKNOWN);
		else
			i++;
	}
	if (cpu->current != tid) {
		cpu->current = tid;
		cpu->whom = (struct whom){
			.kind = tid ? WHOM_THREAD : WHOM_IDLE, .number = tid, .pid = KERNEL_UNKNOWN};
		cpu->nested = 0;
	}
}

/* The thread that an event is of runs there. */
static void be_here(struct machine *machine, int64_t tid, int64_t number)
{
	struct thread *thread = g_hash_table_lookup(machine->threads, &tid);
	struct cpu *cpu = find_cpu(machine, number);

	if (cpu)
		settle_cpu(machine, cpu, tid);
	if (thread && (thread->state != STATE_RUNNING || thread->cpu != number))
		lose(machine, thread, STATE_RUNNING, number);
}

/* Who runs there has that name. */
static void name_current(struct cpu *cpu, const struct kernel_event *event)
{
	if (!cpu || cpu->whom.kind != WHOM_THREAD)
		return;
	if (event->program.size)
		whom_name(&cpu->whom, event->program);
	if (event->pid != KERNEL_UNKNOWN)
		cpu->whom.pid = event->pid;
}

/* Switches */

/* While threads waited for this processor another one ran on it. */
static void tell_runners(struct machine *machine, struct cpu *cpu)
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
	move(machine, thread, STATE_RUNNING, event->cpu);
	thread->waker = (struct whom){0};
}

static void take_switch(struct machine *machine, const struct kernel_event *event)
{
	struct thread *prev = g_hash_table_lookup(machine->threads, &event->prev);
	struct thread *next = g_hash_table_lookup(machine->threads, &event->next);
	struct cpu *cpu = find_cpu(machine, event->cpu);

	if (event->prev != KERNEL_UNKNOWN)
		be_here(machine, event->prev, event->cpu);
	name_current(cpu, event);
	if (prev && event->prev_state != KERNEL_UNKNOWN)
		go_away(machine, prev, event);
	else if (prev)
		lose(machine, prev, STATE_UNKNOWN, KERNEL_UNKNOWN);
	if (cpu)
		tell_runners(machine, cpu);
	if (next)
		come(machine, next, event);
	if (!cpu)
		return;
	cpu->current = event->next;
	cpu->nested = 0;
	cpu->whom = (struct whom){.number = event->next, .pid = KERNEL_UNKNOWN};
	cpu->whom.kind = !event->next                    ? WHOM_IDLE
			 : event->next == KERNEL_UNKNOWN ? WHOM_UNKNOWN
							 : WHOM_THREAD;
	if (event->next)
		whom_name(&cpu->whom, event->next_name);
}

/* Wake-ups */

/* What is done in an interrupt is done by that, whoever runs there. */
static struct whom waker_of(const struct cpu *cpu)
{
	if (!cpu)
		return (struct whom){0};
	if (cpu->nested)
		return cpu->interrupt[MIN(cpu->nested, NESTED_MAX) - 1];
	if (cpu->whom.kind == WHOM_IDLE)
		return (struct whom){.kind = WHOM_INTERRUPT, .number = KERNEL_UNKNOWN, .pid = KERNEL_UNKNOWN};
	return cpu->whom;
}

static void take_waking(struct machine *machine, const struct kernel_event *event)
{
	struct thread *thread = g_hash_table_lookup(machine->threads, &event->other);
	struct whom waker = {0};
	enum part part;

	if (!thread)
		return;
	if (event->kind == KERNEL_WAKING)
		waker = waker_of(find_cpu(machine, event->cpu));
	if (thread->state != STATE_WAITING) {
		/* it is about to go away, or has been woken already */
		if (event->kind == KERNEL_WAKING)
			thread->waker = waker;
		return;
	}
	if (event->kind == KERNEL_WAKEUP)
		waker = thread->waker;
	part = part_of(machine, thread);
	/* who sleeps is woken by a timer, whoever it interrupts */
	if (part == PART_SLEEP && waker.kind == WHOM_THREAD && !machine->recorded[KERNEL_TIMER_ENTRY])
		waker = (struct whom){0};
	close_piece(thread, machine->time, part, &waker);
	move(machine, thread, STATE_RUNNABLE, event->target);
}

static void take_migration(struct machine *machine, const struct kernel_event *event)
{
	struct thread *thread = g_hash_table_lookup(machine->threads, &event->other);

	if (!thread || thread->state != STATE_RUNNABLE)
		return;
	close_state(machine, thread);
	move(machine, thread, STATE_RUNNABLE, event->target);
}

/* What threads do, and what is done to them */

static struct thread *current_thread(struct machine *machine, const struct kernel_event *event)
{
	struct cpu *cpu = find_cpu(machine, event->cpu);
	int64_t tid = event->tid != KERNEL_UNKNOWN ? event->tid : cpu ? cpu->current : KERNEL_UNKNOWN;

	return tid == KERNEL_UNKNOWN ? NULL : g_hash_table_lookup(machine->threads, &tid);
}

static void take_call(struct machine *machine, const struct kernel_event *event)
{
	struct thread *thread = current_thread(machine, event);

	if (!thread)
		return;
	close_state(machine, thread);
	thread->fault = false;
	thread->outside = event->kind == KERNEL_CALL_EXIT;
	thread->call = (struct text){0};
	if (event->kind == KERNEL_CALL_EXIT)
		return;
	thread->call = machine_keep_name(event->name);
	thread->call_number = ++machine->calls;
}

static void take_fault(struct machine *machine, const struct kernel_event *event)
{
	struct thread *thread = current_thread(machine, event);

	if (thread)
		thread->fault = true;
}

static void tell_running(struct machine *machine, struct cpu *cpu)
{
	for (guint i = 0; i < cpu->here->len; i++) {
		struct thread *thread = cpu->here->pdata[i];

		if (thread->state == STATE_RUNNING)
			close_state(machine, thread);
	}
}

static void take_interrupt(struct machine *machine, const struct kernel_event *event)
{
	struct cpu *cpu = find_cpu(machine, event->cpu);
	enum whom_kind kind = event->kind == KERNEL_IRQ_ENTRY       ? WHOM_INTERRUPT
			      : event->kind == KERNEL_SOFTIRQ_ENTRY ? WHOM_SOFTIRQ
			      : event->kind == KERNEL_TIMER_ENTRY   ? WHOM_TIMER
								    : WHOM_UNKNOWN;

	if (!cpu)
		return;
	tell_running(machine, cpu);
	if (kind == WHOM_UNKNOWN) {
		cpu->nested -= cpu->nested ? 1 : 0;
		return;
	}
	if (cpu->nested < NESTED_MAX) {
		struct whom *whom = &cpu->interrupt[cpu->nested];

		*whom = (struct whom){.kind = kind, .number = event->number, .pid = KERNEL_UNKNOWN};
		whom_name(whom, event->name);
	}
	cpu->nested++;
}

void machine_take(struct machine *machine, const struct kernel_event *event)
{
	if (!machine->sorted)
		sort(machine);
	machine->time = MAX(machine->time, event->time);
	if (event->kind == KERNEL_SWITCH) {
		take_switch(machine, event);
		return;
	}
	if (event->tid != KERNEL_UNKNOWN) {
		be_here(machine, event->tid, event->cpu);
		name_current(find_cpu(machine, event->cpu), event);
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

void machine_doubt(struct machine *machine)
{
	GHashTableIter all;
	void *thread;

	g_hash_table_iter_init(&all, machine->threads);
	while (g_hash_table_iter_next(&all, NULL, &thread))
		lose(machine, thread, STATE_UNKNOWN, KERNEL_UNKNOWN);
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

		close_state(machine, thread);
		thread->call = (struct text){0};
		close_piece(thread, INT64_MAX, PART_UNKNOWN, NULL);
	}
}
