/* SPDX-License-Identifier: BSD-2-Clause */
#include "output/server/server.h"

#include <stdio.h>
#include <stdlib.h>

#include <glib.h>

#include "base/clock.h"
#include "base/memory.h"
#include "core/ledger.h"
#include "output/server/parts.h"

static void tell(struct server *server, enum server_news news)
{
	server->shared->news(server, news, server->shared->data);
}

/* Rests */

static void on_rested(evutil_socket_t fd, short what, void *arg)
{
	struct server *server = arg;

	(void)fd;
	(void)what;
	backoff_end(&server->backoff);
	if (server->role == SERVER_OFF) {
		tell(server, SERVER_RESTED);
		return;
	}
	server_pump(server);
	/* With nothing at hand to try it with, others may have something, as the spool. */
	if (server->up && link_open(server->link) == 0)
		tell(server, SERVER_WELL);
}

/* Ends */

static uint32_t open_calls(const struct server *server)
{
	return server->link ? link_open(server->link) : 0;
}

/* Ends the link. What was open on it waits to be sent again. */
static void end_link(struct server *server)
{
	struct piece *piece;
	bool whole;

	if (!server->link)
		return;
	server_end_renewal(server);
	while ((piece = link_take_back(server->link, &whole))) {
		if (piece == &server->asking.question)
			continue;
		piece->sent_before |= whole;
		piece->parcel->entry->alone = true;
		delivery_put_back(&server->delivery, piece);
	}
	link_destroy(server->link);
	server->link = NULL;
	server->up = server->proving = false;
	asking_end(server);
	event_del(server->deadline);
}

static void give_back(struct server *server)
{
	delivery_give_back(&server->delivery);
	server->put_off = server->took = false;
	server->put_off_ns = 0;
}

void server_note_fault(struct server *server, enum fault fault, const char *why)
{
	if (fault_row(fault) != ACCOUNT_ROWS)
		account_add(queue_account(server->shared->queue), fault_row(fault), 1);
	health_failing(&server->health, fault, why, server->shared->then(server, server->shared->data));
}

/* The call that was to be answered next is the likely cause, whatever kept the server from answering it.
 * Returns how often its batch was. */
static unsigned suspect_oldest(const struct server *server, enum fault fault)
{
	struct piece *oldest = server->link ? link_oldest(server->link) : NULL;

	if (oldest == &server->asking.question)
		return 0;
	if (oldest && (fault_is_answer(fault) || fault == FAULT_TLS_ASKED) && fault != FAULT_REFUSES_ALL)
		entry_blame(oldest->parcel->entry);
	return oldest ? oldest->parcel->entry->failures : 0;
}

static void fail(struct server *server, enum fault fault, const char *why)
{
	const unsigned failures = suspect_oldest(server, fault);

	if (server->up)
		server_avoid_address(server);
	courtesy_failed(&server->courtesy, fault, failures, clock_monotonic());
	backoff_begin(&server->backoff, server->put_off_ns);
	server_note_fault(server, fault, why);
	end_link(server);
	give_back(server);
	tell(server, SERVER_FAILED);
}

/* The server asked for time, and all calls are answered: the link stays. */
static void step_back(struct server *server)
{
	courtesy_failed(&server->courtesy, FAULT_TRY_LATER, server->put_off_failures, clock_monotonic());
	/* who names a time is away until then: what comes meanwhile is stored, and paced when it is over */
	server->courtesy.busy = !server->put_off_ns;
	backoff_begin(&server->backoff, server->put_off_ns);
	give_back(server);
	tell(server, SERVER_FAILED);
}

static void fail_refusing(struct server *server)
{
	char why[300];

	snprintf(why, sizeof(why), "the server refuses everything: \"%s\"", server->refusal);
	bisect_give_up(&server->delivery.bisect);
	fail(server, FAULT_REFUSES_ALL, why);
}

/* Calls */

/* The oldest call has to be answered in time; the next one's time begins with that answer. */
void server_watch_oldest(struct server *server)
{
	server->proving = false;
	if (open_calls(server) > 0)
		server_set_timer(server->deadline, server->shared->is->timeout);
	else
		event_del(server->deadline);
}

/* It is there, as far as that can be told with nothing to send. */
static void is_well(struct server *server)
{
	backoff_connected(&server->backoff);
	health_connected(&server->health);
	tell(server, SERVER_WELL);
}

static void on_deadline(evutil_socket_t fd, short what, void *arg)
{
	struct server *server = arg;
	char why[64];

	(void)fd;
	(void)what;
	if (server->proving) {
		server->proving = false;
		is_well(server);
		return;
	}
	if (server->link && link_take_rest(server->link))
		return;
	snprintf(why, sizeof(why), "no answer within %g s", (double)server->shared->is->timeout / 1e9);
	fail(server, FAULT_NO_ANSWER, why);
}

/* A server that is busy, or was so lately, is tried with little; otherwise what is replayed has no more than
 * a pace. */
static void limit(struct server *server, struct piece *piece)
{
	if (server->health.failing || evenpace_is_on(&server->courtesy.all, clock_monotonic()) ||
		!piece->parcel->entry->spool_id)
		delivery_keep(&server->delivery, piece, courtesy_most(&server->courtesy));
}

static void send_piece(struct server *server, struct piece *piece)
{
	struct trace_id ids[WANTED_TOLD_MAX];
	struct run run;
	size_t bytes;

	limit(server, piece);
	courtesy_spend(&server->courtesy, piece->count, piece->parcel->entry->spool_id != 0);
	delivery_sends(&server->delivery, piece);
	piece_run(piece, &run);
	if (server_learns(server))
		run.share = atomic_load(&queue_quota(server->shared->queue)->share);
	run.replayed = piece->parcel->entry->spool_id != 0;
	asking_add(server, &run, ids);
	bytes = link_send(server->link, &run, piece);
	ratelimit_spend(server->shared->rate, bytes, clock_monotonic());
	if (open_calls(server) == 1)
		server_watch_oldest(server);
}

static void start_link(struct server *server);

/* What is usual, and what the spool is to have ready. */
static void look_at_pace(struct server *server)
{
	uint64_t floor, came = queue_came(server->shared->queue, &floor);

	sendpace_look(&server->courtesy.pace, clock_monotonic(), came, floor);
	if (server->role == SERVER_SERVING)
		queue_want_replay(server->shared->queue, server->courtesy.pace.rate);
}

/* How long nothing may be sent, for the output's limit and for what the server takes. */
static int64_t wait_of(struct server *server, int64_t now)
{
	struct courtesy *courtesy = &server->courtesy;
	int64_t limited = ratelimit_wait(server->shared->rate, now);
	uint64_t waiting = evenpace_is_on(&courtesy->all, now)
				   ? account_waiting(queue_account(server->shared->queue))
				   : 0;

	return MAX(limited, courtesy_wait(courtesy, waiting, now));
}

static struct piece *take(struct server *server, bool paced)
{
	enum delivery_source source = server->role == SERVER_RETIRING ? DELIVERY_BEGUN
				      : paced                         ? DELIVERY_FRESH
								      : DELIVERY_ANY;

	return delivery_take(&server->delivery, source, open_calls(server));
}

void server_pump(struct server *server)
{
	uint32_t window =
		server->health.failing || server->role == SERVER_TRIAL ? 1 : server->courtesy.window;
	struct piece *piece;
	int64_t wait = 0, pace = 0, now;

	if (server->role == SERVER_OFF || server->backoff.on || server->put_off)
		return;
	if (!server->link)
		start_link(server);
	if (server->next_up && open_calls(server) == 0)
		server_change_link(server);
	look_at_pace(server);
	while (!server->next_up && link_has_room(server->link, window)) {
		now = clock_monotonic();
		wait = wait_of(server, now);
		pace = sendpace_wait(&server->courtesy.pace, now);
		piece = wait ? NULL : take(server, pace > 0);
		if (!piece)
			break;
		send_piece(server, piece);
	}
	if (wait || pace)
		server->shared->paced(wait ? wait : pace, server->shared->data);
	if (!wait && server->up && open_calls(server) == 0 && bisect_stuck(&server->delivery.bisect))
		fail_refusing(server);
}

/* Answers */

/* Draws the conclusions from the answers that came; returns whether the server goes on. */
static bool conclude(struct server *server)
{
	bool goes_on = false;

	if (bisect_hopeless(&server->delivery.bisect)) {
		fail_refusing(server);
	} else if (server->put_off && open_calls(server) == 0) {
		step_back(server);
	} else {
		goes_on = true;
	}
	return goes_on;
}

static void go_on(struct server *server)
{
	bool took = server->took;

	server->took = false;
	if (took)
		tell(server, SERVER_TOOK);
	server_pump(server);
	if (server->role == SERVER_RETIRING && delivery_empty(&server->delivery))
		server_set_role(server, SERVER_OFF);
	tell(server, SERVER_IDLE);
}

/* The link */

static void on_idle(void *data)
{
	if (conclude(data))
		go_on(data);
}

static void on_up(void *data)
{
	struct server *server = data;

	server->up = true;
	server_plan_renewal(server);
	server_pump(server);
	if (!server->up || (server->role == SERVER_TRIAL && open_calls(server) == 0))
		return;
	if (open_calls(server) == 0 && server->shared->tls) {
		server->proving = true;
		server_set_timer(server->deadline, SERVER_PROVE_NS);
	} else if (open_calls(server) == 0) {
		is_well(server);
	} else if (!server->health.failing && !server->shared->tls) {
		health_good(&server->health);
	}
}

/* Idle: no error. One that served comes back as soon as it is needed. */
static void end_idle(struct server *server, const char *why)
{
	health_idle(&server->health, why);
	end_link(server);
	give_back(server);
	if (!server->backoff.on) {
		backoff_begin(&server->backoff, 0);
		backoff_connected(&server->backoff);
		server->backoff.wake_ends = server->answered;
	}
	tell(server, SERVER_IDLE);
}

static void on_down(enum fault fault, const char *why, void *data)
{
	struct server *server = data;

	if (fault == FAULT_CLOSED && open_calls(server) == 0) {
		end_idle(server, why);
	} else if (fault != FAULT_NONE) {
		fail(server, fault, why);
	} else {
		end_link(server);
		if (conclude(server))
			go_on(server);
	}
}

struct link_handler server_handler(struct server *server)
{
	return (struct link_handler){on_up, server_on_answered, on_idle, on_down, server};
}

static void start_link(struct server *server)
{
	struct link_handler handler = server_handler(server);

	server->answered = server->taking = false;
	server_forget_avoided(server);
	server->link = server_link(server, server->shared->is->window, false, &handler);
}

/* For the uplink */

void server_set_role(struct server *server, enum server_role role)
{
	if (role == SERVER_RETIRING && delivery_empty(&server->delivery))
		role = SERVER_OFF;
	server->role = role;
	if (role == SERVER_RETIRING)
		server_drop_next(server);
	if (role == SERVER_OFF) {
		end_link(server);
		give_back(server);
		bisect_doubt(&server->delivery.bisect);
	} else {
		server_pump(server);
	}
}

void server_wake(struct server *server)
{
	if (server->backoff.on && server->backoff.wake_ends)
		backoff_end(&server->backoff);
	server_pump(server);
}

void server_hurry(struct server *server)
{
	backoff_reset(&server->backoff);
	courtesy_hurry(&server->courtesy);
	if (server->backoff.on)
		backoff_begin(&server->backoff, 0);
}

struct server *server_create(const struct server_shared *shared, const char *output,
	const struct address *address, struct wire *wire)
{
	struct server *server = memory_get(sizeof(*server));

	server->shared = shared;
	server->address = *address;
	address_print(address, server->name);
	server->wire = wire;
	delivery_init(&server->delivery, shared->queue, shared->format);
	courtesy_init(&server->courtesy, (uint32_t)shared->is->window);
	health_label(server->label, sizeof(server->label), output, server->name);
	g_strlcat(server->label, shared->way, sizeof(server->label));
	health_init(&server->health, server->label, shared->kind);
	backoff_init(&server->backoff, shared->base, on_rested, server);
	backoff_set_pace(&server->backoff, shared->is->retry_min, shared->is->retry_max);
	server->deadline = evtimer_new(shared->base, on_deadline, server);
	if (!server->deadline)
		g_error("out of memory");
	asking_init(server);
	server_init_renewal(server);
	return server;
}

void server_destroy(struct server *server)
{
	end_link(server);
	give_back(server);
	backoff_free(&server->backoff);
	event_free(server->deadline);
	event_free(server->renewal);
	server->wire->destroy(server->wire);
	free(server);
}
