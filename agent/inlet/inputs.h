/* SPDX-License-Identifier: BSD-2-Clause */
/* The inputs: an inlet for each protocol, which listens if the configuration has an address for it. */
#ifndef INLET_INPUTS_H
#define INLET_INPUTS_H

#include "inlet/inlet.h"

struct inputs;

/* As inlet_create, but for the namers, which are those of @statistics; @options' calls are for all of them:
 * `record` may come from several threads, and `stopped` comes once. One count of @outlets is taken over. */
struct inputs *inputs_create(const struct config *config, struct outlets *outlets,
	struct statistics *statistics, const struct inlet_options *options);

/* Before any moves: others of ours may listen at the ports of those that do, as one may move to where another
 * one is until now, which closes its own a moment later. The rest is among those @staying. */
void inputs_share(struct inputs *inputs, const struct config *running, const struct config *config,
	struct listen_staying *staying);

/* Listens where the configuration says now, and is among those @staying from then on. -1, having logged why,
 * if an address cannot be had; then nothing has changed. */
int inputs_move(struct inputs *inputs, const struct config *running, const struct config *config,
	struct listen_staying *staying);

/* After it: nobody else may listen there. */
void inputs_unshare(struct inputs *inputs);

/* As for each inlet. One count of @outlets is taken over. */
void inputs_configure(struct inputs *inputs, const struct config *config, struct outlets *outlets);
void inputs_stop(struct inputs *inputs);
void inputs_destroy(struct inputs *inputs);

/* Reads the state of each. */
void inputs_read_state(struct inputs *inputs, struct inlet_state states[INPUTS]);

#endif
