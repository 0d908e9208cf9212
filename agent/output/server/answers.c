/* SPDX-License-Identifier: BSD-2-Clause */
/* What becomes of a call that a server answered. */
#include "output/server/parts.h"

#include <stdio.h>

#include <glib.h>

#include "base/clock.h"
#include "core/ledger.h"

/* So long the end of an answer is waited for, whose beginning says what became of the call. */
#define PATIENCE_NS (1 * NS_PER_SECOND)
/* The same once that was in vain, but for each answer of so many: it may have become better. */
#define PATIENCE_LOST_NS (50 * NS_PER_MS)
#define PATIENCE_AGAIN 20
/* So many answers in a row without an end are no accident. */
#define ENDLESS 3

static void take_good(struct server *server, struct piece *piece, const struct reply *reply)
{
	uint32_t lost = (uint32_t)MIN(reply->lost, piece->count);
	int64_t now = clock_monotonic();

	if (lost)
		health_refused(&server->health, lost, reply->words);
	courtesy_good(&server->courtesy, now);
	sendpace_good(&server->courtesy.pace, now);
	delivery_took(&server->delivery, piece, lost);
	if (!server->taking)
		backoff_connected(&server->backoff);
	server->taking = true;
	backoff_good(&server->backoff, now);
	health_took(&server->health);
	server->took = true;
}

static void take_refusal(struct server *server, struct piece *piece, const char *words)
{
	account_add(queue_account(server->shared->queue), OUTPUT_ERRORS_REFUSED, 1);
	g_strlcpy(server->refusal, words, sizeof(server->refusal));
	if (delivery_refused(&server->delivery, piece, words))
		health_refused(&server->health, 1, words);
}

/* Whether it serves, but for what is replayed: that slows down, and the rest goes on. What is in pieces would
 * not wait for the pace. */
static bool is_too_fast(const struct server *server, const struct piece *piece, const struct reply *reply)
{
	const struct entry *entry = piece->parcel->entry;

	return entry->spool_id && !entry->failures && piece->count == entry->batch->count &&
	       !reply->wait_ns && courtesy_serves(&server->courtesy, clock_monotonic());
}

/* A server that puts off most batches is overloaded, and says nothing of this one. That others are taken is
 * told by how batches fare the first time. */
static void suspect_put_off(struct server *server, struct entry *entry)
{
	if (!entry->failures)
		courtesy_not_taken(&server->courtesy);
	if (courtesy_takes_most(&server->courtesy))
		entry_blame(entry);
}

static void take_put_off(struct server *server, struct piece *piece, const struct reply *reply)
{
	char why[300];

	if (!reply->later && !server->put_off)
		suspect_put_off(server, piece->parcel->entry);
	if (is_too_fast(server, piece, reply)) {
		account_add(queue_account(server->shared->queue), OUTPUT_ERRORS_TRY_LATER, 1);
		courtesy_too_fast(&server->courtesy, clock_monotonic());
		delivery_return(&server->delivery, piece);
		return;
	}
	snprintf(why, sizeof(why),
		*reply->words ? "the server asks to try later: %s" : "the server asks to try later",
		reply->words);
	server_note_fault(server, FAULT_TRY_LATER, why);
	/* unless it is the batch that it fails on */
	if (reply->later || !courtesy_takes_most(&server->courtesy))
		courtesy_put_off(&server->courtesy, piece->count);
	delivery_put_back(&server->delivery, piece);
	server->put_off = true;
	server->put_off_failures = reply->later ? 0 : piece->parcel->entry->failures;
	server->put_off_ns = MAX(server->put_off_ns, reply->wait_ns);
}

bool server_learns(const struct server *server)
{
	return server->shared->kind == KIND_SPANS && !server->shared->is->keep;
}

/* Who does not know yet will soon. Who is asked, and says nothing of shares, is no agent, or does not find
 * them out. */
static void learn(const struct server *server, const struct reply *reply)
{
	if (server_learns(server) && (reply->share || !reply->shares))
		atomic_store(&queue_quota(server->shared->queue)->learned, reply->share);
}

void server_on_answered(enum reply_kind kind, const struct reply *reply, void *cargo, void *data)
{
	struct server *server = data;

	server_watch_oldest(server);
	server->answered = true;
	if (kind != REPLY_REFUSED)
		learn(server, reply);
	asking_answered(server, kind, reply);
	if (cargo == &server->asking.question)
		return;
	server->unended = reply->unended ? server->unended + 1 : 0;
	if (kind == REPLY_GOOD)
		take_good(server, cargo, reply);
	else if (kind == REPLY_REFUSED)
		take_refusal(server, cargo, reply->words);
	else
		take_put_off(server, cargo, reply);
	if (reply->grant)
		sendpace_grant(&server->courtesy.pace, reply->grant);
}

struct link *server_link(
	const struct server *server, uint32_t window, bool beside, const struct link_handler *handler)
{
	const struct server_shared *shared = server->shared;
	bool patient = server->unended % PATIENCE_AGAIN == 0;
	struct link_options options = {
		{&server->address, shared->is->timeout, shared->tls, shared->proxy, shared->node,
			&server->avoided, beside ? &server->reached : NULL},
		window, patient ? PATIENCE_NS : PATIENCE_LOST_NS};

	return link_create(shared->base, &options, server->wire, handler);
}

bool server_is_endless(const struct server *server)
{
	return server->unended >= ENDLESS;
}
