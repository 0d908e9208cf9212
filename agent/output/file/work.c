/* SPDX-License-Identifier: BSD-2-Clause */
/* What the thread of an uplink into files does with batches. */
#include "base/clock.h"
#include "base/log.h"
#include "output/file/inner.h"
#include "queue/aside.h"
#include "queue/encoding.h"
#include "queue/identity.h"

/* What the log and the account say, beside the health */

/* Between two lines about files that were removed, at least; and as many about those that somebody removed.
 */
#define REMOVED_LOG_NS (600 * NS_PER_SECOND)

static void tell_good(struct fileuplink *files)
{
	const struct takeup *left = &files->writer.left;
	struct filenews *news = &files->said;
	const char *label = files->label;

	if (!news->told_good)
		log_info("output %s: files are written there", label);
	if (!news->told_left && (left->files || left->cut))
		log_info("output %s: an earlier agent ended without finishing its file: it is finished now%s",
			label, left->cut ? ", without the half line at its end" : "");
	news->told_good = news->told_left = true;
}

void filework_tell_removed(struct fileuplink *files)
{
	struct filenews *news = &files->said;
	uint64_t more = files->writer.removed - news->removed;
	int64_t now = clock_monotonic();

	if (!more)
		return;
	account_add(queue_account(files->queue), OUTPUT_FILES_REMOVED, (int64_t)more);
	news->removed += more;
	if (news->removed_at && now - news->removed_at < REMOVED_LOG_NS)
		return;
	log_info("output %s: the oldest files are removed, as the total is larger than `total-size` "
		 "(files "
		 "removed since the last such line: %llu)",
		files->label, (unsigned long long)(news->removed - news->removed_told));
	news->removed_told = news->removed;
	news->removed_at = now;
}

bool filework_tell_lost(struct fileuplink *files)
{
	struct filenews *news = &files->said;
	int64_t more = files->writer.lost - news->lost, now = clock_monotonic();

	if (!more)
		return false;
	account_add(queue_account(files->queue), SPANS_REMOVED, more);
	news->lost += more;
	if (!news->lost_at || now - news->lost_at >= REMOVED_LOG_NS) {
		log_warning("output %s: somebody removed, renamed or cut the file that was being written: "
			    "%lld of its "
			    "lines are lost, and counted; what comes now goes into another file",
			files->label, (long long)more);
		news->lost_at = now;
	}
	return true;
}

/* Work */

/* With the lock held. Once this is abandoned, another uplink has the queue. */
static void set_delivering(struct fileuplink *files, bool delivering)
{
	if (!files->abandoned)
		queue_set_delivering(files->queue, delivering);
}

/* Nothing can be written. */
static void fail(struct fileuplink *files, int error)
{
	enum fault fault = fault_of_file(error);

	files->wait_ns = clock_backoff(files->is->retry_min, files->failures++, files->is->retry_max);
	files->failed_at = clock_monotonic();
	account_add(queue_account(files->queue), fault_row(fault), 1);
	pthread_mutex_lock(&files->lock);
	set_delivering(files, false);
	health_failing(&files->health, fault, files->writer.error, health_waits(files->health.kind));
	pthread_mutex_unlock(&files->lock);
}

/* Something could be written; or, if not @wrote, would be as far as one can see. */
static void work_well(struct fileuplink *files, bool wrote)
{
	bool good;

	pthread_mutex_lock(&files->lock);
	if (wrote)
		health_took(&files->health);
	else
		health_connected(&files->health);
	good = !files->health.failing;
	if (good)
		set_delivering(files, true);
	pthread_mutex_unlock(&files->lock);
	files->failed_at = 0;
	tell_good(files);
	if (good)
		files->failures = 0;
}

/* Items of which there is no line; returns how many. */
static uint32_t refuse_damaged(struct fileuplink *files, const struct entry *entry, const struct batch *lines)
{
	uint32_t refused = 0;

	for (uint32_t i = 0; i < lines->count; i++) {
		if (batch_sizes(lines)[i])
			continue;
		queue_refuse(files->queue, entry, i, "damaged: it cannot be read");
		refused++;
	}
	return refused;
}

static void settle(struct fileuplink *files, struct entry *entry, const struct batch *lines)
{
	const struct batch *batch = entry->batch;
	uint32_t sent = batch->count - refuse_damaged(files, entry, lines);
	struct account *account = queue_account(files->queue);

	if (entry->sent_before)
		account_add(account, SPANS_SENT_AGAIN, sent);
	account_move(account, entry_row(entry), SPANS_SENT, sent);
	account_delivered(account, batch_events(batch), batch->count, clock_wall());
	queue_release(files->queue, entry);
}

static bool is_abandoned(struct fileuplink *files)
{
	bool abandoned;

	pthread_mutex_lock(&files->lock);
	abandoned = files->abandoned;
	pthread_mutex_unlock(&files->lock);
	return abandoned;
}

/* Events and messages get no tags: they are known by their lines. */
static const uint64_t *find_identities(struct fileuplink *files, const struct batch *batch)
{
	if (batch_kind(batch->format) != KIND_SPANS)
		return NULL;
	files->identities.size = 0;
	identity_of_all(batch, &files->identities);
	return (const uint64_t *)(void *)files->identities.data;
}

/* The file and the directory; what somebody removed from it was sent no longer. */
static int open_file(struct fileuplink *files)
{
	int64_t before = files->said.lost;
	int error = filewriter_open(&files->writer);

	files->looked_at = clock_monotonic();
	if (filework_tell_lost(files)) {
		pthread_mutex_lock(&files->lock);
		files->lost = files->said.lost - before;
		files->lost_at = files->looked_at;
		pthread_mutex_unlock(&files->lock);
	}
	return error;
}

static int deliver(struct fileuplink *files, struct entry *entry)
{
	const struct batch *lines = filelines_of(&files->lines, entry_wire(entry));
	struct filewriter_lines with = {
		.items = lines->spans.data,
		.sizes = batch_sizes(lines),
		.identities = find_identities(files, entry->batch),
		.count = lines->count,
	};
	uint32_t known = 0; /* and sent, all the same */
	int error = open_file(files);

	if (!error)
		error = filewriter_write(&files->writer, &with, &known);
	if (error) {
		queue_give_back(files->queue, entry);
		fail(files, error);
		if (is_abandoned(files)) /* another uplink may have the queue */
			queue_rouse(files->queue);
		return error;
	}
	settle(files, entry, lines);
	work_well(files, true);
	return 0;
}

static struct entry *take(struct fileuplink *files)
{
	struct entry *entry;

	do {
		entry = queue_take(files->queue);
		if (!entry)
			entry = aside_take(files->queue);
	} while (entry && !encode_entry(files->queue, entry, files->format));
	return entry;
}

/* Whether it has to stop before the next step. */
static bool is_ending(struct fileuplink *files)
{
	bool ending;

	pthread_mutex_lock(&files->lock);
	ending = files->ending;
	files->busy_since = clock_monotonic();
	pthread_mutex_unlock(&files->lock);
	return ending;
}

/* With nothing to write, it is at least seen whether the directory is there. */
static int look(struct fileuplink *files)
{
	int error = open_file(files);

	if (!error && clock_monotonic() >= filewriter_due(&files->writer))
		error = filewriter_rotate(&files->writer);
	if (error)
		fail(files, error);
	else
		work_well(files, false);
	return error;
}

void filework(struct fileuplink *files)
{
	struct entry *entry;

	if (is_ending(files) || look(files) != 0)
		return;
	while (!is_ending(files) && (entry = take(files)) && deliver(files, entry) == 0)
		;
	filelines_clear(&files->lines);
	filework_tell_removed(files);
}
