/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The checkpoint: an input that begins with 'F' is a file of it, any other one what a whole file holds. A
 * start loads it, takes a part of it or nothing, and writes another one, which loads.
 */
#include "fuzz.h"

#include <string.h>

#include <glib.h>

#include "base/clock.h"
#include "config/load.h"
#include "core/ledger.h"
#include "output/checkpoint.h"
#include "output/checkpointfile.h"
#include "queue/fanout.h"
#include "reader/assemble/pipeline.h"
#include "reader/progress.h"

static struct account *account;
static struct queue *queue;

static void on_wake(void *data)
{
	(void)data;
}

static void write_checkpoint(const uint8_t *data, size_t size)
{
	struct checkpoint_file *checkpoint;
	char error[512];
	bool locked;

	fuzz_clear_folder();
	if (size > 0 && data[0] == 'F') {
		g_free(fuzz_write("checkpoint.0", data + 1, size - 1));
		return;
	}
	checkpoint = checkpoint_file_open(fuzz_folder(), &locked, error, sizeof(error));
	fuzz_hold(checkpoint != NULL, "a checkpoint can be opened");
	fuzz_hold(checkpoint_file_write(checkpoint, data, size, false) == 0, "it can be written");
	checkpoint_file_close(checkpoint);
}

static void hand(
	void *data, struct ledger *change, const struct pipeline_output *made, int64_t now, bool at_once)
{
	struct fanout *fanout = data;

	fanout_hand(fanout, change, &made->spans, now, at_once);
}

/* What the reader makes of it. */
static void take_up(const struct config *config, struct checkpoint *kept, struct fanout *fanout)
{
	struct assembler_limits limits = pipeline_limits(config);
	struct orders orders = {.lasting = true};
	const struct buffer *position = checkpoint_newest(kept, &orders.number, &orders.holds);
	const struct buffer *before = checkpoint_reached(kept);
	struct pipeline *pipeline =
		pipeline_create(&limits, false, (struct pipeline_sink){.hand = hand, .data = fanout});
	struct buffer reached = {0};
	struct progress *progress;

	orders.position = unpacker_of(position->data, position->size);
	orders.reached = unpacker_of(before->data, before->size);
	progress = progress_create(config, pipeline, NULL, &orders);
	if (progress_session(progress))
		progress_end(progress);
	progress_save_reached(progress, &reached);
	checkpoint_hand(kept, unpacker_of(reached.data, reached.size), &(struct ledger){0},
		&(struct items){.batch = NULL}, 0, false);
	pipeline_flush(pipeline);
	buffer_free(&reached);
	progress_destroy(progress);
	pipeline_destroy(pipeline);
}

/* Starts, and stops. Rows are the ledger's own, so it begins with none. */
static void start(const struct config *config)
{
	struct outlet outlet = {.queue = queue, .limits = {KIND_SPANS, 100, 1 << 16, NS_PER_SECOND}};
	struct fanout *fanout = fanout_create(outlets_create(&outlet, 1));
	struct checkpoint *kept = checkpoint_open(fuzz_folder(), fanout);

	fuzz_hold(kept != NULL, "it starts with whatever is there");
	take_up(config, kept, fanout);
	checkpoint_write(kept, true);
	checkpoint_close(kept);
	fanout_destroy(fanout);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct queue_limits limits = {.bytes = 1 << 20};
	struct config config;

	account = account_open("default");
	queue = queue_create(&limits, account, on_wake, NULL);
	write_checkpoint(data, size);
	config_init(&config);
	g_free(config.state_directory);
	config.state_directory = g_strdup(fuzz_folder());
	start(&config);
	start(&config);
	config_free(&config);
	queue_end(queue);
	return 0;
}
