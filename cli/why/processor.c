/* SPDX-License-Identifier: BSD-2-Clause */
#include "why/processor.h"

struct processor *processor_create(void)
{
	struct processor *processor = g_new0(struct processor, 1);

	processor->current = KERNEL_UNKNOWN;
	processor->here = g_ptr_array_new();
	return processor;
}

void processor_free(void *data)
{
	struct processor *processor = data;

	g_ptr_array_unref(processor->here);
	g_free(processor);
}

void processor_run(struct processor *processor, int64_t tid, struct text name)
{
	struct whom *whom = &processor->whom;

	processor->current = tid;
	processor->nested = 0;
	*whom = (struct whom){.number = tid, .pid = KERNEL_UNKNOWN};
	whom->kind = !tid ? WHOM_IDLE : tid == KERNEL_UNKNOWN ? WHOM_UNKNOWN : WHOM_THREAD;
	if (whom->kind == WHOM_THREAD)
		whom_name(whom, name);
}

void processor_name(struct processor *processor, const struct kernel_event *event)
{
	if (processor->whom.kind != WHOM_THREAD)
		return;
	if (event->program.size)
		whom_name(&processor->whom, event->program);
	if (event->pid != KERNEL_UNKNOWN)
		processor->whom.pid = event->pid;
}

static enum whom_kind kind_of(enum kernel_kind kind)
{
	switch (kind) {
	case KERNEL_IRQ_ENTRY:
		return WHOM_INTERRUPT;
	case KERNEL_SOFTIRQ_ENTRY:
		return WHOM_SOFTIRQ;
	case KERNEL_TIMER_ENTRY:
		return WHOM_TIMER;
	default:
		return WHOM_UNKNOWN;
	}
}

void processor_interrupt(struct processor *processor, const struct kernel_event *event)
{
	enum whom_kind kind = kind_of(event->kind);

	if (kind == WHOM_UNKNOWN) {
		processor->nested -= processor->nested ? 1 : 0;
		return;
	}
	if (processor->nested < NESTED_MAX) {
		struct whom *whom = &processor->interrupt[processor->nested];

		*whom = (struct whom){.kind = kind, .number = event->number, .pid = KERNEL_UNKNOWN};
		whom_name(whom, event->name);
	}
	processor->nested++;
}

struct whom processor_actor(const struct processor *processor)
{
	if (!processor)
		return (struct whom){0};
	if (processor->nested)
		return processor->interrupt[MIN(processor->nested, NESTED_MAX) - 1];
	/* where nobody runs, it is an interrupt that is not recorded */
	if (processor->whom.kind == WHOM_IDLE)
		return (struct whom){.kind = WHOM_INTERRUPT, .number = KERNEL_UNKNOWN, .pid = KERNEL_UNKNOWN};
	return processor->whom;
}
