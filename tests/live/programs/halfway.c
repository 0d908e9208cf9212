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

#define NAME "07 halfway\n"

/* A span as blkin_whole_span has it: its first line ends where the page begins, and the others are in that.
 */
struct whole {
	char front[BLKIN_FRONT_];
	char ids[BLKIN_IDS_TEXT_];
	char name[sizeof(NAME) - 1];
	char data[32];
};

static struct whole *make_span(void)
{
	uint64_t id = (uint64_t)getpid();
	struct whole *span;

	page_size = (size_t)sysconf(_SC_PAGESIZE);
	page = (char *)mmap(NULL, 3 * page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) +
	       page_size;
	span = (struct whole *)(void *)(page - offsetof(struct whole, data));
	blkin_put_ids_(span->ids, id, id, 0, blkin_now());
	memcpy(span->name, NAME, sizeof(span->name));
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
	struct whole *span = make_span();
	size_t size = offsetof(struct whole, data) - BLKIN_FRONT_ + strlen(span->data) + 1;

	mprotect(page, page_size, PROT_NONE);
	blkin_whole_[BLKIN_INFO](span->front, size);
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
