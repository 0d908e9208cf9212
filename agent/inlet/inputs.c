/* SPDX-License-Identifier: BSD-2-Clause */
#include "inlet/inputs.h"

#include <stdatomic.h>
#include <string.h>

#include <glib.h>

#include "inlet/otlp/otlp.h"
#include "inlet/scribe/scribe.h"

/* By enum input_type. */
#define PROTOCOL(upper, lower, key, speaks) &lower##_protocol,
static const struct protocol *const protocols[INPUTS] = {INPUT_TYPES(PROTOCOL)};
#undef PROTOCOL

struct input {
	struct inputs *inputs;
	struct inlet *inlet;
};

struct inputs {
	struct inlet_options options;
	struct input input[INPUTS];
	_Atomic unsigned running; /* so many have not stopped */
};

static void record(void *data)
{
	const struct inlet_options *options = &((struct input *)data)->inputs->options;

	options->record(options->data);
}

static void show(void *data, const struct items *spans)
{
	const struct inlet_options *options = &((struct input *)data)->inputs->options;

	options->show(options->data, spans);
}

static void stopped(void *data)
{
	struct input *input = data;
	struct inputs *inputs = input->inputs;

	if (--inputs->running == 0)
		inputs->options.stopped(inputs->options.data);
}

/* All of them */

struct inputs *inputs_create(const struct config *config, struct outlets *outlets,
	struct statistics *statistics, const struct inlet_options *options)
{
	const unsigned connections = limits_connections(config);
	struct inputs *inputs = g_new0(struct inputs, 1);

	inputs->options = *options;
	inputs->running = INPUTS;
	for (size_t i = 0; i < INPUTS; i++) {
		struct input *input = &inputs->input[i];
		const struct inlet_options its = {
			.traces = options->traces,
			.namer = {statistics_namer(statistics, 2 * (unsigned)i),
				statistics_namer(statistics, 2 * (unsigned)i + 1)},
			.show = show,
			.record = record,
			.stopped = stopped,
			.data = input,
		};

		input->inputs = inputs;
		input->inlet = inlet_create(
			config, connections, protocols[i], config->input[i], outlets_ref(outlets), &its);
		if (!input->inlet) {
			outlets_unref(outlets);
			inputs_destroy(inputs);
			return NULL;
		}
	}
	outlets_unref(outlets);
	return inputs;
}

static bool moves(size_t index, const struct config *from, const struct config *to)
{
	return strcmp(from->input[index], to->input[index]) != 0;
}

/* And the page may be among those that stay. */
G_STATIC_ASSERT(G_N_ELEMENTS(((struct listen_staying *)NULL)->fd) > INPUTS);

/* Those that have moved, in their order. */
struct moved {
	size_t index[INPUTS], count;
};

static bool is_among(const struct moved *moved, size_t index)
{
	size_t i = 0;

	while (i < moved->count && moved->index[i] != index)
		i++;
	return i < moved->count;
}

/* Another one, which moves away later, has the address. */
static bool is_held(const char *address, const struct moved *moved, const struct config *running)
{
	for (size_t i = 0; i < INPUTS; i++)
		if (!is_among(moved, i) && *address && strcmp(running->input[i], address) == 0)
			return true;
	return false;
}

/* The next to move; INPUTS: all have. A path is to be had once who has it has left: where all wait for each
 * other, who moves to a port, which is shared, goes first. */
static size_t find_next(const struct moved *moved, const struct config *running, const struct config *config)
{
	size_t next = INPUTS;

	for (size_t i = 0; i < INPUTS; i++) {
		if (is_among(moved, i) || !moves(i, running, config))
			continue;
		if (!is_held(config->input[i], moved, running))
			return i;
		if (next == INPUTS ||
			(listen_is_path(config->input[next]) && !listen_is_path(config->input[i])))
			next = i;
	}
	return next;
}

int inputs_move(struct inputs *inputs, const struct config *running, const struct config *config,
	struct listen_staying *staying)
{
	struct moved moved = {.count = 0};
	size_t i;

	while ((i = find_next(&moved, running, config)) < INPUTS) {
		if (inlet_move(inputs->input[i].inlet, config->input[i], staying) != 0)
			break;
		moved.index[moved.count++] = i;
	}
	while (i < INPUTS && moved.count > 0) {
		size_t last = moved.index[--moved.count];

		inlet_move_back(inputs->input[last].inlet, running->input[last]);
	}
	return i < INPUTS ? -1 : 0;
}

void inputs_share(struct inputs *inputs, const struct config *running, const struct config *config,
	struct listen_staying *staying)
{
	for (size_t i = 0; i < INPUTS; i++)
		if (moves(i, running, config))
			inlet_share(inputs->input[i].inlet, true);
		else
			inlet_stay(inputs->input[i].inlet, staying);
}

void inputs_unshare(struct inputs *inputs)
{
	for (size_t i = 0; i < INPUTS; i++)
		inlet_share(inputs->input[i].inlet, false);
}

void inputs_configure(struct inputs *inputs, const struct config *config, struct outlets *outlets)
{
	const unsigned connections = limits_connections(config);

	for (size_t i = 0; i < INPUTS; i++)
		inlet_configure(inputs->input[i].inlet, config, connections, outlets_ref(outlets));
	outlets_unref(outlets);
}

void inputs_stop(struct inputs *inputs)
{
	for (size_t i = 0; i < INPUTS; i++)
		inlet_stop(inputs->input[i].inlet);
}

void inputs_destroy(struct inputs *inputs)
{
	for (size_t i = 0; i < INPUTS; i++)
		if (inputs->input[i].inlet)
			inlet_destroy(inputs->input[i].inlet);
	g_free(inputs);
}

void inputs_read_state(struct inputs *inputs, struct inlet_state states[INPUTS])
{
	for (size_t i = 0; i < INPUTS; i++)
		inlet_read_state(inputs->input[i].inlet, &states[i]);
}
