/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What programs do that libraries forget: forks, daemons, signal handlers, exec, early exits, plugins that
 * come and go.
 *
 *     edges fork | daemon | signal | exec | exit | errno | plugin FILE
 *
 * Each prints how many spans ought to arrive.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <blkin/blkin.h>

static const struct blkin_endpoint here = {"10.0.0.1", 6800, "edges"};

static void make_spans(const char *name, int count, const struct blkin_context *parent)
{
	for (int i = 0; i < count; i++) {
		BLKIN_SPAN(span, BLKIN_LOCAL, name, &here, parent);
		blkin_span_tag_int(&span, "number", i);
	}
}

static void *make_in_thread(void *stop)
{
	while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
		BLKIN_SPAN(span, BLKIN_LOCAL, "busy", &here, NULL);
		usleep(1000);
	}
	return NULL;
}

/* Forks ten times in the middle of a span, while another thread records too; each child makes children of it.
 */
static int forks(void)
{
	struct blkin_span span;
	pthread_t thread;
	int stop = 0;

#ifdef __SANITIZE_ADDRESS__
	/* GCC 12's does not bring its locks over a fork: another thread may hold one for ever */
	stop = 1;
#endif
	pthread_create(&thread, NULL, make_in_thread, &stop);
	if (stop)
		pthread_join(thread, NULL);
	blkin_span_start(&span, BLKIN_LOCAL, "forking", &here, NULL);
	for (int i = 0; i < 10; i++) {
		if (fork() == 0) {
			make_spans("in child", 100, blkin_span_context(&span));
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	blkin_span_finish(&span);
	if (!stop) {
		stop = 1;
		pthread_join(thread, NULL);
	}
	puts("1001");
	return 0;
}

/* Goes to the background as daemons do: the parent is gone, and the child's child works on. */
static int background(void)
{
	int done[2];
	char byte;

	if (pipe(done) != 0 || fork() == 0) {
		setsid();
		if (fork() != 0)
			_exit(0);
		make_spans("in daemon", 1000, NULL);
		usleep(100000);
		if (write(done[1], "x", 1) != 1)
			_exit(1);
		_exit(0);
	}
	close(done[1]);
	wait(NULL);
	if (read(done[0], &byte, 1) != 1)
		return 1;
	puts("1000");
	return 0;
}

static volatile sig_atomic_t handled;

static void on_signal(int number)
{
	(void)number;
	make_spans("in handler", 1, NULL);
	handled++;
}

/* A handler interrupts the same calls at any point. */
static int signals(void)
{
	const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
	int made = 0;

	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	while (handled < 2000) {
		make_spans("interrupted", 1, NULL);
		made++;
		if (made % 100 == 0)
			usleep(2000);
	}
	setitimer(ITIMER_REAL, &never, NULL);
	printf("%d\n", made + (int)handled);
	return 0;
}

/* A span that exec cuts off is never finished, and the new program starts afresh. */
static int executes(char *self)
{
	struct blkin_span span;

	make_spans("before exec", 10, NULL);
	blkin_span_start(&span, BLKIN_LOCAL, "cut off", &here, NULL);
	execl(self, self, "after-exec", NULL);
	return 1;
}

static int after_exec(void)
{
	make_spans("after exec", 10, NULL);
	puts("20");
	return 0;
}

/* What is finished is recorded, however the process ends. */
static int exits(void)
{
	struct blkin_span span;

	make_spans("finished", 10, NULL);
	blkin_span_start(&span, BLKIN_LOCAL, "unfinished", &here, NULL);
	blkin_span_tag(&span, "in the span", "never written");
	puts("10");
	fflush(stdout);
	kill(getpid(), SIGKILL);
	return 1;
}

#define THREADS 64
#define ERRNO 77 /* which no call here has */

static void make_smallest(void)
{
	BLKIN_SPAN(span, BLKIN_LOCAL, "smallest", &here, NULL);
	blkin_span_tag_double(&span, "number", 5e-324); /* which strtod calls out of range */
}

/* Records, and tells whether errno was changed; all of them, when they are known to LTTng. */
static void *make_with_errno(void *together)
{
	intptr_t changed;

	pthread_barrier_wait(together);
	errno = ERRNO;
	make_spans("with errno", 10, NULL);
	make_smallest();
	changed = errno != ERRNO;
	pthread_barrier_wait(together);
	return (void *)changed;
}

static int keeps_errno(void)
{
	pthread_t threads[THREADS];
	pthread_barrier_t together;
	void *changed;
	int code = 0;

	pthread_barrier_init(&together, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, make_with_errno, &together);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(threads[i], &changed);
		code |= changed != NULL;
	}
	printf("%d\n", 11 * THREADS);
	return code;
}

static int plugins(const char *file)
{
	for (int i = 0; i < 50; i++) {
		void (*run)(void);
		void *plugin;

		errno = ERRNO;
		plugin = dlopen(file, RTLD_NOW | RTLD_LOCAL);
		if (!plugin)
			return 1;
		if (errno != ERRNO || dlerror())
			return 3; /* what our constructor tried in vain is not the program's */
		*(void **)&run = dlsym(plugin, "edges_plugin");
		run();
		dlclose(plugin);
		if (dlopen(file, RTLD_NOW | RTLD_NOLOAD))
			return 2;           /* the test wants it really gone */
		if (i == 25 && fork() == 0) /* with a plugin's handlers gone, too */
			_exit(0);
	}
	puts("50");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "fork"))
		return forks();
	if (!strcmp(what, "daemon"))
		return background();
	if (!strcmp(what, "signal"))
		return signals();
	if (!strcmp(what, "exec"))
		return executes(argv[0]);
	if (!strcmp(what, "after-exec"))
		return after_exec();
	if (!strcmp(what, "exit"))
		return exits();
	if (!strcmp(what, "errno"))
		return keeps_errno();
	if (!strcmp(what, "plugin") && argc > 2)
		return plugins(argv[2]);
	return 64;
}
