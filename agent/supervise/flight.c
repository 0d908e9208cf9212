/* SPDX-License-Identifier: BSD-2-Clause */
#include "supervise/flight.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/statvfs.h>

#include <glib.h>

#include "base/clock.h"
#include "base/log.h"
#include "config/thresholds.h"
#include "core/ledger.h"
#include "supervise/child.h"
#include "supervise/flightanswer.h"
#include "supervise/flightfolder.h"
#include "supervise/flightlate.h"
#include "supervise/flightrate.h"

/* For so long a snapshot is waited for. */
#define SNAPSHOT_NS (60 * NS_PER_SECOND)
/* So much is left free on the disk beside the snapshot and copies of it. */
#define ROOM_BYTES (UINT64_C(64) << 20)
/* What the rings had when the span came is overwritten by now, most likely: the agent catches up, say. */
#define OLD_NS (60 * NS_PER_SECOND)
/* What the log says of failures, at most so often; and so often what is left over is removed. */
#define LOG_NS (60 * NS_PER_SECOND)
#define CLEAN_NS (60 * NS_PER_SECOND)

/* What the configuration says. */
struct settings_of_flight {
	bool on, user;
	uint64_t per_minute, bytes, memory;
	char *folder;
	GPtrArray *thresholds;
	struct buffer text;
};

struct flight {
	pthread_mutex_t lock; /* guards these: */
	struct settings_of_flight *fresh;
	struct flight_failure failure;
	atomic_bool on; /* of the newest settings */

	struct settings_of_flight *settings;
	struct flight_late *late;
	struct flight_rate rate;
	enum { STAGE_IDLE, STAGE_SNAPSHOT, STAGE_ANSWER } stage;
	uint64_t number;   /* of the last snapshot, */
	uint64_t trace_id; /* and whose it is */
	int64_t begun;     /* the snapshot, CLOCK_MONOTONIC ns, as below */
	struct flight_answer answer;
	int64_t logged;     /* when a failure was; 0: never */
	int64_t clean_next; /* not before */
};

static void settings_free(struct settings_of_flight *settings)
{
	if (!settings)
		return;
	g_free(settings->folder);
	g_clear_pointer(&settings->thresholds, g_ptr_array_unref);
	buffer_free(&settings->text);
	g_free(settings);
}

struct flight *flight_create(const struct config *config)
{
	struct flight *flight = g_new0(struct flight, 1);
	g_autofree char *folder = g_build_filename(config->state_directory, FLIGHT_FOLDER, NULL);

	pthread_mutex_init(&flight->lock, NULL);
	flight->late = flight_late_create();
	flight->number = (uint64_t)clock_wall(); /* no reader of before answers for it */
	flight_folder_clean(folder);
	return flight;
}

void flight_configure(struct flight *flight, const struct config *config, const struct buffer *text)
{
	struct settings_of_flight *fresh = g_new0(struct settings_of_flight, 1);

	*fresh = (struct settings_of_flight){.on = config_flies(config),
		.user = config->user,
		.per_minute = config->flight_per_minute,
		.bytes = config->flight_size,
		.memory = config->memory,
		.folder = g_build_filename(config->state_directory, FLIGHT_FOLDER, NULL),
		.thresholds = thresholds_copy(config->thresholds)};
	buffer_put(&fresh->text, text->data, text->size);
	pthread_mutex_lock(&flight->lock);
	settings_free(flight->fresh);
	flight->fresh = fresh;
	flight->on = fresh->on;
	pthread_mutex_unlock(&flight->lock);
}

static void take_settings(struct flight *flight)
{
	struct settings_of_flight *fresh;

	pthread_mutex_lock(&flight->lock);
	fresh = g_steal_pointer(&flight->fresh);
	pthread_mutex_unlock(&flight->lock);
	if (!fresh)
		return;
	settings_free(flight->settings);
	flight->settings = fresh;
	flight->rate.per_minute = fresh->per_minute;
	flight_late_configure(flight->late, g_steal_pointer(&fresh->thresholds));
}

static bool is_on(const struct flight *flight)
{
	return flight->settings && flight->settings->on;
}

/* Late spans */

static void offer(struct flight *flight, const struct trait *trait, uint32_t user, int64_t now)
{
	struct flight_rate *rate = &flight->rate;

	/* It is read again after a crash, say. The disk is asked only of one that would be taken: of others
	 * there may be many. */
	if (!flight_rate_knows(rate, trait->trace_id) && flight_rate_has_room(rate, user, now) &&
		flight_folder_has(flight->settings->folder, trait->trace_id))
		return;
	if (flight_rate_offer(rate, trait->trace_id, user, now) == FLIGHT_TOO_MANY)
		ledger_add(FLIGHT_REFUSED, 1);
}

void flight_see(struct flight *flight, const struct namer *namer, const struct items *spans)
{
	int64_t oldest;

	if (!flight->on || !is_on(flight))
		return;
	oldest = clock_wall() - OLD_NS;
	for (uint32_t i = 0; i < items_count(spans); i++)
		if (spans->traits[i].last_event >= oldest && flight_late_is(flight->late, namer, spans, i))
			offer(flight, &spans->traits[i], statistics_user_of(namer, spans, i),
				clock_monotonic());
}

/* One trace */

/* What the session daemon writes of a snapshot that nobody waits for any more, as it was slow, or the agent
 * that had asked for it was killed, may come later: so it is cleaned again and again. */
static void clean(struct flight *flight, int64_t now)
{
	flight_folder_clean(flight->settings->folder);
	flight->clean_next = now + CLEAN_NS;
}

static void end(struct flight *flight)
{
	clean(flight, clock_monotonic());
	flight->stage = STAGE_IDLE;
}

static void fail(struct flight *flight, enum flight_fault fault, const char *why)
{
	int64_t now = clock_monotonic();

	ledger_add(FLIGHT_FAILED, 1);
	pthread_mutex_lock(&flight->lock);
	flight->failure = (struct flight_failure){.at = now, .fault = fault, .trace_id = flight->trace_id};
	g_strlcpy(flight->failure.why, why, sizeof(flight->failure.why));
	pthread_mutex_unlock(&flight->lock);
	if (!flight->logged || now - flight->logged >= LOG_NS) {
		flight->logged = now;
		log_warning("what the kernel did during the late trace %016" PRIx64 " is not kept: %s",
			flight->trace_id, why);
	}
	end(flight);
}

/* For the snapshot, and copies of as much of the programs' trace. */
static bool has_room(const struct settings_of_flight *settings)
{
	struct statvfs disk;

	return statvfs(settings->folder, &disk) != 0 ||
	       disk.f_bavail * disk.f_frsize >= 2 * settings->memory + settings->bytes + ROOM_BYTES;
}

/* Returns the snapshot's number; 0 if there is to be none. */
static uint64_t begin(struct flight *flight, int64_t now)
{
	const char *folder = flight->settings->folder;
	char why[512];
	int code;

	flight_folder_clean(folder);
	code = flight_folder_make(folder);
	if (code != 0) {
		snprintf(why, sizeof(why), "%s cannot be made: %s", folder, g_strerror(code));
		fail(flight, FLIGHT_FAULT_FOLDER, why);
		return 0;
	}
	if (!has_room(flight->settings)) {
		snprintf(why, sizeof(why), "the disk of %s has too little room for a snapshot", folder);
		fail(flight, FLIGHT_FAULT_ROOM, why);
		return 0;
	}
	flight->stage = STAGE_SNAPSHOT;
	flight->begun = now;
	return ++flight->number;
}

static void start_answer(struct flight *flight)
{
	const struct settings_of_flight *settings = flight->settings;
	g_autofree char *program = child_command();
	int code = flight_answer_start(&flight->answer, program, settings->folder, &settings->text,
		settings->user, flight->trace_id);

	if (code != 0)
		fail(flight, FLIGHT_FAULT_ANSWER, g_strerror(code));
	else
		flight->stage = STAGE_ANSWER;
}

static void keep(struct flight *flight)
{
	end(flight);
	flight_folder_bound(flight->settings->folder, flight->settings->bytes);
	ledger_add(FLIGHT_KEPT, 1);
	pthread_mutex_lock(&flight->lock);
	flight->failure.at = 0;
	pthread_mutex_unlock(&flight->lock);
	log_info("what the kernel did during the late trace %016" PRIx64 " is kept: blkin why %016" PRIx64,
		flight->trace_id, flight->trace_id);
}

static void attend_answer(struct flight *flight)
{
	char why[128] = "`blkin why` has written nothing";
	enum flight_end ended = flight_answer_look(&flight->answer, why, sizeof(why));

	if (ended == FLIGHT_WORKS)
		return;
	if (ended == FLIGHT_DONE && flight_folder_has(flight->settings->folder, flight->trace_id))
		keep(flight);
	else
		fail(flight, ended == FLIGHT_UNSTARTED ? FLIGHT_FAULT_PROGRAM : FLIGHT_FAULT_ANSWER, why);
}

uint64_t flight_tick(struct flight *flight, bool ready)
{
	int64_t now = clock_monotonic();

	if (flight->stage == STAGE_IDLE)
		take_settings(flight);
	if (flight->stage == STAGE_ANSWER)
		attend_answer(flight);
	else if (flight->stage == STAGE_SNAPSHOT && now - flight->begun >= SNAPSHOT_NS)
		fail(flight, FLIGHT_FAULT_SNAPSHOT, "no snapshot came for a minute");
	else if (flight->stage == STAGE_IDLE && ready && is_on(flight) &&
		 flight_rate_next(&flight->rate, now, &flight->trace_id))
		return begin(flight, now);
	if (flight->stage == STAGE_IDLE && flight->settings && now >= flight->clean_next)
		clean(flight, now);
	return 0;
}

void flight_snapped(struct flight *flight, uint64_t number, const char *error)
{
	if (flight->stage != STAGE_SNAPSHOT || number != flight->number) {
		flight->clean_next = 0; /* it came too late */
		return;
	}
	if (*error)
		fail(flight, FLIGHT_FAULT_SNAPSHOT, error);
	else
		start_answer(flight);
}

void flight_read_failure(struct flight *flight, struct flight_failure *failure)
{
	pthread_mutex_lock(&flight->lock);
	*failure = flight->failure;
	pthread_mutex_unlock(&flight->lock);
}

void flight_destroy(struct flight *flight)
{
	flight_answer_kill(&flight->answer);
	if (flight->settings)
		flight_folder_clean(flight->settings->folder);
	settings_free(flight->settings);
	settings_free(flight->fresh);
	flight_late_destroy(flight->late);
	pthread_mutex_destroy(&flight->lock);
	g_free(flight);
}
