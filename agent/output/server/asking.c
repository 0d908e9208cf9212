/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An agent in the place of the server is told which traces this output, or senders of ours, want to have
 * whole, and says which ones others want: queue/wanted.h. That goes with the calls that there are; while
 * spans wait here for such a word, and there is nothing to send, a call without any asks for it. Another
 * server skips what it is told, does not answer it, and is asked no more for a while.
 */
#include "output/server/parts.h"

#include <glib.h>

#include "net/scribecall.h"
#include "queue/wanted.h"

/* Whether a server is another one now is looked at so often. */
#define DEAF_NS (60 * NS_PER_SECOND)
/* What the agent there heard it has passed on by then, as who waits asks it every second. If it dies earlier,
 * it is to be told again. */
#define PASSED_ON_NS (3 * NS_PER_SECOND)

void asking_init(struct server *server)
{
	server->asking.reader.place = (struct wanted_place){WANTED_ABOVE, server->shared->number};
}

/* Spans wait here for such a word, or senders do. */
static bool waits(const struct server *server, int64_t now)
{
	struct wanted *wanted = server->shared->wanted;

	return wanted_is_noted(wanted, WANTED_HERE, now) || wanted_is_noted(wanted, WANTED_BELOW, now);
}

static bool may_ask(const struct server *server, int64_t now)
{
	const struct asking *asking = &server->asking;

	return server->shared->wanted && server->wire->hears &&
	       (!asking->deaf_at || now - asking->deaf_at >= DEAF_NS);
}

static void add(struct server *server, struct run *run, struct trace_id *ids, uint32_t count, int64_t now)
{
	struct asking *asking = &server->asking;

	if (!asking->from)
		asking->from = asking->sent;
	asking->at = now;
	run->hears = true;
	run->wanted = ids;
	run->wanted_count = count;
}

static uint32_t read_wanted(struct server *server, struct trace_id ids[WANTED_TOLD_MAX], int64_t now)
{
	return wanted_read(server->shared->wanted, &server->asking.reader, ids, NULL, WANTED_TOLD_MAX, now);
}

void asking_add(struct server *server, struct run *run, struct trace_id ids[WANTED_TOLD_MAX])
{
	const int64_t now = clock_monotonic();
	uint32_t count;

	server->asking.sent++;
	if (!may_ask(server, now))
		return;
	count = read_wanted(server, ids, now);
	if (server->asking.from || count || waits(server, now))
		add(server, run, ids, count, now);
}

static void hear(struct server *server, const struct reply *reply)
{
	const struct wanted_place above = {WANTED_ABOVE, server->shared->number};
	const uint32_t count = MIN(reply->wanted_count, WANTED_TOLD_MAX);
	const int64_t now = clock_monotonic();

	for (uint32_t i = 0; i < count; i++) {
		const struct trace_id id = scribecall_wanted(reply->wanted, i);

		if (id.high || id.low)
			wanted_add(server->shared->wanted, &id, &above, above.number, now);
	}
	wanted_add_untold(reply->wanted_count - count);
}

/* All that was told was heard. */
static void note_heard(struct asking *asking)
{
	const int64_t now = clock_monotonic();

	if (asking->recent_at && now - asking->recent_at < PASSED_ON_NS)
		return;
	asking->heard = asking->recent;
	asking->recent = asking->reader.next;
	asking->recent_at = now;
}

void asking_answered(struct server *server, enum reply_kind kind, const struct reply *reply)
{
	struct asking *asking = &server->asking;

	asking->answered++;
	if (!asking->from || asking->answered < asking->from)
		return;
	if (reply->hears) {
		hear(server, reply);
	} else if (kind != REPLY_REFUSED) {
		asking->deaf_at = clock_monotonic();
		asking->from = 0;
	}
	if (asking->answered == asking->sent)
		note_heard(asking);
}

void asking_end(struct server *server)
{
	struct asking *asking = &server->asking;

	/* what was told in vain is told again, and so is what may not have been passed on */
	asking->reader.next = asking->recent = asking->heard;
	asking->recent_at = 0;
	asking->sent = asking->answered = asking->from = 0;
}

/* Nothing else is under way that would bring an answer. */
static bool is_idle(const struct server *server)
{
	return server->role == SERVER_SERVING && server->up && !server->proving && !server->next_up &&
	       !server->backoff.on && !server->put_off && !server->health.failing &&
	       link_open(server->link) == 0 && link_has_room(server->link, 1);
}

void server_ask(struct server *server)
{
	struct trace_id ids[WANTED_TOLD_MAX];
	struct run run = {0};
	int64_t now = clock_monotonic();
	bool asks;
	uint32_t count;

	if (!may_ask(server, now) || now - server->asking.at < SERVER_ASK_NS)
		return;
	asks = waits(server, now);
	if (!asks && !wanted_has_more(server->shared->wanted, &server->asking.reader))
		return;
	server_wake(server);
	if (!is_idle(server))
		return;
	count = read_wanted(server, ids, now);
	if (!asks && !count)
		return;
	server->asking.sent++;
	add(server, &run, ids, count, now);
	link_send(server->link, &run, &server->asking.question);
	server_watch_oldest(server);
}
