/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/uplink/probe.h"

#include <glib.h>

#include "base/clock.h"

void probe_init(struct probe *probe, struct event_base *base, const struct run *run, int64_t limit_ns,
	event_callback_fn on_deadline)
{
	struct timeval time = clock_timeval(limit_ns);

	probe->run = run;
	probe->started = clock_monotonic();
	probe->deadline = evtimer_new(base, on_deadline, probe);
	if (!probe->deadline)
		g_error("out of memory");
	event_add(probe->deadline, &time);
}

void probe_end(struct probe *probe, enum probe_end how, enum fault fault, const char *words)
{
	struct probe_result *result = &probe->result;

	if (result->end != PROBE_OPEN)
		return;
	result->end = how;
	result->fault = fault;
	result->took_ns = clock_monotonic() - probe->started;
	g_strlcpy(result->words, words, sizeof(result->words));
	event_del(probe->deadline);
	probe->ended(probe->data);
}

void probe_on_end(struct probe *probe, void (*ended)(void *data), void *data)
{
	probe->ended = ended;
	probe->data = data;
}

void probe_destroy(struct probe *probe)
{
	event_free(probe->deadline);
	probe->destroy(probe);
}
