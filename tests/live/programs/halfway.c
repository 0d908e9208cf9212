/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * halfway die|stop CPU SPANS: on that CPU, records so many whole spans, and then half of one: the provider
 * copies the second half from a page that cannot be read, between LTTng's reservation in the ring buffer and
 * its commit. There this process is killed, as SIGKILL may meet a busy program anywhere; or it stops until
 * SIGCONT, and then ends that span and records as many again. The spans are `whole`, with a number in the tag
 * `number`, and `halfway`.
 */
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <blkin/blkin.h>

static char *page; /* of three, that in the middle */
static size_t page_size;
static bool dies;

static void on_fault(int number)
{
	(void)number;
	if (dies)
		kill(getpid(), SIGKILL);
	raise(SIGSTOP);
	mprotect(page, page_size, PROT_READ | PROT_WRITE);
}

/* A span as blkin_packed_span has it: its name ends where the page begins, and its data are in that. */
struct packed {
	uint64_t numbers[4];
	char name[8];
	char data[32];
};

static struct packed *make_span(void)
{
	struct packed *span;

	page_size = (size_t)sysconf(_SC_PAGESIZE);
	page = (char *)mmap(NULL, 3 * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) +
	       page_size;
	span = (struct packed *)(void *)(page - offsetof(struct packed, data));
	span->numbers[0] = span->numbers[1] = (uint64_t)getpid();
	span->numbers[3] = blkin_now();
	strcpy(span->name, "halfway");
	strcpy(span->data, "local 1 10.0.0.1 halfway\n");
	return span;
}

static void record_whole(const struct blkin_endpoint *local, int first, int count)
{
	for (int i = first; i < first + count; i++) {
		struct blkin_span span;

		blkin_span_start(&span, BLKIN_LOCAL, "whole", local, NULL);
		blkin_span_tag_int(&span, "number", i);
		blkin_span_finish(&span);
	}
}

static void record_half(void)
{
	struct packed *span = make_span();
	size_t data_size = strlen(span->data) + 1;

	mprotect(page, page_size, PROT_NONE);
	blkin_packed_[BLKIN_INFO](span->numbers, sizeof(span->name), data_size);
}

int main(int argc, char **argv)
{
	const struct blkin_endpoint local = {"10.0.0.1", 1, "halfway"};
	struct sigaction action = {.sa_handler = on_fault};
	int cpu = argc > 2 ? atoi(argv[2]) : 0, count = argc > 3 ? atoi(argv[3]) : 0;
	cpu_set_t cpus;

	dies = argc > 1 && !strcmp(argv[1], "die");
	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus) != 0)
		return 1;
	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < 200 && !blkin_tracing(); i++)
		usleep(50000);
	if (!blkin_tracing())
		return 3;
	record_whole(&local, 0, count);
	record_half();
	record_whole(&local, count, count);
	return 0;
}
