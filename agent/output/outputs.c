/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/outputs.h"

#include <inttypes.h>
#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/merge.h"
#include "output/leaving.h"
#include "output/leftover.h"
#include "output/uplink/uplinktype.h"

/* So long whoever pushes waits for a disk when a queue is full; with several outputs, one disk is not to hold
 * up the others for long. */
#define DISK_ONLY_NS (2 * NS_PER_SECOND)
#define DISK_SHARED_NS (100 * NS_PER_MS)

struct outputs {
	struct event_base *base;
	bool patient;
	struct wanted *wanted;   /* NULL: an import */
	GPtrArray *list;         /* of struct output *, by the order of the configuration */
	struct leaving *leaving; /* those that are taken away, until they are done */
	GHashTable *told;        /* for leftover_tell */
	unsigned undrained;
	void (*drained)(void *data);
	void *drained_data;
};

static struct output_manner manner_for(const struct outputs *outputs, const struct config *config)
{
	unsigned count = 0;

	for (guint i = 0; i < config->outputs->len; i++)
		for (int kind = 0; kind < KINDS; kind++)
			count += config_lane_is_on(g_ptr_array_index(config->outputs, i), kind);
	return (struct output_manner){
		.patient = outputs->patient,
		.senders = *config->input[INPUT_SCRIBE],
		.wanted = outputs->wanted,
		.disk_ns = count > 1 ? DISK_SHARED_NS : DISK_ONLY_NS,
		.state_directory = config->state_directory,
	};
}

static struct output *find(const GPtrArray *list, const char *name)
{
	for (guint i = 0; i < list->len; i++)
		if (!strcmp(output_name(g_ptr_array_index(list, i)), name))
			return g_ptr_array_index(list, i);
	return NULL;
}

/* Ends outputs that have hardly begun. */
static void end_new(GPtrArray *list)
{
	for (guint i = 0; i < list->len; i++) {
		struct output *output = g_ptr_array_index(list, i);

		output_end_uplink(output);
		output_end_spool(output);
		output_destroy(output, true);
	}
	g_ptr_array_set_size(list, 0);
}

/* Makes the output's lanes; false, having logged why, if one cannot be. */
static bool create_lanes(
	struct outputs *outputs, const struct output_config *is, const struct output_manner *manner)
{
	for (int kind = 0; kind < KINDS; kind++) {
		struct output *output;

		/* messages come from an intake, which an import has not */
		if (!config_lane_is_on(is, kind) || (outputs->patient && kind == KIND_MESSAGES))
			continue;
		output = output_create(outputs->base, is, kind, manner);
		if (!output)
			return false;
		g_ptr_array_add(outputs->list, output);
	}
	return true;
}

struct outputs *outputs_create(struct event_base *base, const struct config *config, bool patient)
{
	struct outputs *outputs = g_new0(struct outputs, 1);
	struct output_manner manner;

	outputs->base = base;
	outputs->patient = patient;
	outputs->wanted = patient ? NULL : wanted_create();
	outputs->list = g_ptr_array_new();
	outputs->leaving = leaving_create(base);
	outputs->told = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	manner = manner_for(outputs, config);
	manner.starting = !patient;
	for (guint i = 0; i < config->outputs->len; i++) {
		if (create_lanes(outputs, g_ptr_array_index(config->outputs, i), &manner))
			continue;
		end_new(outputs->list);
		outputs_destroy(outputs);
		return NULL;
	}
	return outputs;
}

bool outputs_start_spools(struct outputs *outputs, const struct config *config)
{
	leftover_tell(outputs->told, config);
	for (guint i = 0; i < outputs->list->len; i++) {
		struct output *output = g_ptr_array_index(outputs->list, i);

		if (!output_start_spool(output, config, config_output(config, output_name(output))))
			return false;
	}
	return true;
}

/* The one output that spans go to; NULL: there are several, or none. */
static const struct output_config *only_output(const struct config *config)
{
	const struct output_config *only = NULL;

	for (guint i = 0; i < config->outputs->len; i++) {
		const struct output_config *output = g_ptr_array_index(config->outputs, i);

		if (!config_output_delivers(output) || !(output->takes & CONFIG_TAKES_SPANS))
			continue;
		if (only)
			return NULL;
		only = output;
	}
	return only;
}

bool outputs_sole_format(const struct config *config, enum batch_format *format)
{
	const struct output_config *only = only_output(config);

	if (!only || !output_is_plain(only))
		return false;
	*format = uplink_format(only, KIND_SPANS);
	return true;
}

struct outlets *outputs_outlets(const struct outputs *outputs)
{
	g_autofree struct outlet *outlet = g_new0(struct outlet, outputs->list->len + 1);

	for (guint i = 0; i < outputs->list->len; i++)
		outlet[i] = output_outlet(g_ptr_array_index(outputs->list, i));
	return outlets_create(outlet, outputs->list->len);
}

/* A reload */

struct outputs_change {
	struct outputs *outputs;
	const struct config *fresh;
	struct output_manner manner;
	GPtrArray *list;   /* of struct output *: as it will be */
	GPtrArray *new;    /* those of them that were made for this */
	GPtrArray *uplink; /* for each of the list, or NULL: one to replace its own */
};

/* Makes what a lane of output @is needs; false, having logged why, if that cannot be had. */
static bool prepare_one(struct outputs_change *change, const struct config *config,
	const struct output_config *is, enum kind kind)
{
	struct outputs *outputs = change->outputs;
	g_autofree char *name = lane_name(is->name, kind);
	struct output *output = find(outputs->list, name);
	struct uplink *uplink = NULL;

	if (!output && leaving_find(outputs->leaving, name)) {
		log_error("[%s]: the output of that name is still delivering what it had when it was "
			  "removed: reload again in a moment",
			is->section);
		return false;
	}
	if (!output) {
		output = output_create(outputs->base, is, kind, &change->manner);
		if (output)
			g_ptr_array_add(change->new, output);
	} else if (config_output_changes(config_output(config, is->name), is) & CONFIG_CHANGES_UPLINK) {
		uplink = output_make_uplink(output, is);
		if (!uplink)
			return false;
	}
	if (output) {
		g_ptr_array_add(change->list, output);
		g_ptr_array_add(change->uplink, uplink);
	}
	return output != NULL;
}

struct outputs_change *outputs_prepare(
	struct outputs *outputs, const struct config *config, const struct config *fresh)
{
	struct outputs_change *change = g_new0(struct outputs_change, 1);

	change->outputs = outputs;
	change->fresh = fresh;
	change->manner = manner_for(outputs, fresh);
	change->list = g_ptr_array_new();
	change->new = g_ptr_array_new();
	change->uplink = g_ptr_array_new();
	for (guint i = 0; i < fresh->outputs->len; i++) {
		const struct output_config *is = g_ptr_array_index(fresh->outputs, i);

		for (int kind = 0; kind < KINDS; kind++) {
			if (!config_lane_is_on(is, kind) || prepare_one(change, config, is, kind))
				continue;
			outputs_abandon(change);
			return NULL;
		}
	}
	return change;
}

static void free_change(struct outputs_change *change)
{
	g_ptr_array_unref(change->list);
	g_ptr_array_unref(change->new);
	g_ptr_array_unref(change->uplink);
	g_free(change);
}

void outputs_abandon(struct outputs_change *change)
{
	for (guint i = 0; i < change->uplink->len; i++)
		uplink_destroy(g_ptr_array_index(change->uplink, i));
	end_new(change->new);
	free_change(change);
}

void outputs_commit(struct outputs_change *change, int64_t grace_ns)
{
	struct outputs *outputs = change->outputs;

	for (guint i = 0; i < change->list->len; i++) {
		struct output *output = g_ptr_array_index(change->list, i);
		struct uplink *uplink = g_ptr_array_index(change->uplink, i);
		const struct output_config *is = config_output(change->fresh, output_name(output));

		output_configure(output, is, &change->manner);
		/* without a thread for its spool, which the log tells, its spans wait in memory */
		if (g_ptr_array_find(change->new, output, NULL))
			output_start_spool(output, change->fresh, is);
		if (uplink)
			output_replace_uplink(output, uplink);
	}
	for (guint i = 0; i < outputs->list->len; i++) {
		struct output *output = g_ptr_array_index(outputs->list, i);

		if (find(change->list, output_name(output)))
			continue;
		g_hash_table_add(outputs->told, g_strdup(output_name(output)));
		leaving_add(outputs->leaving, output, grace_ns);
	}
	leftover_tell(outputs->told, change->fresh);
	g_ptr_array_unref(outputs->list);
	outputs->list = g_ptr_array_ref(change->list);
	free_change(change);
}

double outputs_part(const struct outputs *outputs, const char *name)
{
	const struct output *output = find(outputs->list, name);

	return output ? output_part(output) : 1;
}

/* The state */

size_t outputs_count(const struct outputs *outputs)
{
	return outputs->list->len;
}

struct outputs_counts outputs_read(
	const struct outputs *outputs, struct ledger *rows, struct output_state *states, size_t max)
{
	struct outputs_counts counts = {.on = MIN(outputs->list->len, max)};
	g_autofree struct account **accounts = g_new0(struct account *, max + 1);
	g_autofree struct account_rows *read = g_new0(struct account_rows, max + 1);
	size_t all;

	counts.leaving = MIN(leaving_count(outputs->leaving), max - counts.on);
	all = counts.on + counts.leaving;
	for (size_t i = 0; i < all; i++) {
		const struct output *output = i < counts.on ? g_ptr_array_index(outputs->list, i)
							    : leaving_get(outputs->leaving, i - counts.on);

		output_read_state(output, &states[i]);
		accounts[i] = output_account(output);
	}
	ledger_read_with(rows, accounts, read, all);
	for (size_t i = 0; i < all; i++)
		states[i].account = read[i];
	return counts;
}

enum outputs_answer outputs_discard(const struct outputs *outputs, const char *name,
	const struct outputs_order *order, struct discard_state *state)
{
	struct output *output = find(outputs->list, name);
	bool taken;

	if (!output)
		output = leaving_find(outputs->leaving, name);
	if (!output)
		return OUTPUTS_NO_OUTPUT;
	if (!output_has_spool(output))
		return OUTPUTS_NO_SPOOL;
	taken = !order || output_discard(output, order->before, order->user);
	output_read_discard(output, state);
	return taken ? OUTPUTS_DONE : OUTPUTS_BUSY;
}

/* A stop */

static void on_drained(void *data)
{
	struct outputs *outputs = data;

	if (--outputs->undrained == 0)
		outputs->drained(outputs->drained_data);
}

void outputs_drain(struct outputs *outputs, void (*done)(void *data), void *data)
{
	outputs->drained = done;
	outputs->drained_data = data;
	outputs->undrained = outputs->list->len + 1;
	leaving_drain(outputs->leaving, on_drained, outputs);
	for (guint i = 0; i < outputs->list->len; i++) {
		struct output *output = g_ptr_array_index(outputs->list, i);

		output_close(output);
		output_when_drained(output, on_drained, outputs);
	}
}

void outputs_end(struct outputs *outputs)
{
	leaving_end_all(outputs->leaving);
	for (guint i = 0; i < outputs->list->len; i++)
		output_end_uplink(g_ptr_array_index(outputs->list, i));
	/* what libevent keeps of a connection goes in a turn of the loop (net/connection.h) */
	event_base_loop(outputs->base, EVLOOP_NONBLOCK);
	for (guint i = 0; i < outputs->list->len; i++)
		output_end_spool(g_ptr_array_index(outputs->list, i));
}

void outputs_drop(struct outputs *outputs, bool all)
{
	for (guint i = 0; i < outputs->list->len; i++)
		output_drop(g_ptr_array_index(outputs->list, i), all);
}

void outputs_destroy(struct outputs *outputs)
{
	if (!outputs)
		return;
	leaving_destroy(outputs->leaving);
	wanted_unref(outputs->wanted);
	g_hash_table_unref(outputs->told);
	for (guint i = 0; i < outputs->list->len; i++)
		output_destroy(g_ptr_array_index(outputs->list, i), false);
	g_ptr_array_unref(outputs->list);
	g_free(outputs);
}
