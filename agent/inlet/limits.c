/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Who has to go when more senders come than there is room for: inner.h.
 *
 * First those at whom nothing goes on that should. Then, for a sender who has less than its share (the most
 * connections by the number of those who hold some), one of whoever holds the most. Nobody who delivers has
 * to go for anybody else, so that senders in their share never displace each other, and go round; who finds
 * no room is a guest for a moment, and told to try later.
 */
#include "base/clock.h"
#include "base/descriptors.h"
#include "base/log.h"
#include "inlet/inner.h"

/* Where there is no room, nothing may stand still for longer. */
#define SOON_NS (2 * NS_PER_SECOND)
/* A sender who had nothing to say for so long can connect again when it has. */
#define REST_NS (5 * 60 * NS_PER_SECOND)
/* A guest stays so long at most. */
#define GUEST_NS (5 * NS_PER_SECOND)
/* Guests, as a part of the connections, and by one holder as a part of them. */
#define GUESTS_PART 4
#define GUESTS_MIN 4
#define GUESTS_MAX 256
/* Files and sockets that the process needs beside those of senders. */
#define OTHER_DESCRIPTORS 512
/* What a connection takes when there is nothing of a call, about: of gRPC, more of which is nghttp2's than
 * ours. */
#define CONNECTION_BYTES (16 * 1024)
/* And a call, beside what it brings; so many may wait at each connection, also if there are very many of
 * these. */
#define CALL_BYTES 1024
#define CALLS_MIN 8

static unsigned count_guests(unsigned connections)
{
	return CLAMP(connections / GUESTS_PART, GUESTS_MIN, GUESTS_MAX);
}

static unsigned count_inputs(const struct config *config)
{
	unsigned count = 0;

	for (size_t i = 0; i < INPUTS; i++)
		count += *config->input[i] != '\0';
	return count;
}

unsigned limits_connections(const struct config *config)
{
	const unsigned wanted = (unsigned)config->input_connections, inputs = count_inputs(config);
	const unsigned long all = (unsigned long)inputs * wanted,
			    more = (unsigned long)inputs * count_guests(wanted) + OTHER_DESCRIPTORS;
	unsigned long have;

	if (!inputs)
		return wanted;
	have = descriptors_raise(all + more);
	if (have >= all + more)
		return wanted;
	have = MAX((have > 2 * more ? have - more : have / 2) / inputs, 1);
	log_warning("[input]: of %u `connections` of each input there can be %lu, as the process may not "
		    "have more files open (LimitNOFILE= in a unit, or `ulimit -n`)",
		wanted, have);
	return (unsigned)have;
}

/* Who goes first. */
enum standing {
	STALLED, /* in the middle of a call, or with answers unread */
	MUTE,    /* it has had the time, and has handed over nothing */
	RESTING, /* it has had nothing to hand over for long */
	IDLE,
	BUSY,
	STANDINGS
};

static enum standing standing_of(const struct connection *connection, int64_t now, int64_t timeout)
{
	int64_t soon = MIN(timeout, SOON_NS);

	if (connection->lingers || timeouts_is_stalled(connection, now, soon) ||
		(connection->written && now - connection->written > soon))
		return STALLED;
	if (connection->calls)
		return BUSY;
	if (!connection->served && now - connection->came > (connection->begun ? timeout : soon))
		return MUTE;
	if (connection->begun || !connection->served)
		return BUSY;
	return now - connection->heard > REST_NS ? RESTING : IDLE;
}

/* What a newcomer may ask for. */
struct claim {
	const struct holder *holder; /* NULL: it has nothing yet */
	unsigned share;              /* of each holder */
	bool due;                    /* it has less than its share */
};

static struct claim make_claim(const struct inlet *inlet, const struct peer *peer, unsigned most)
{
	struct claim claim = {.holder = holders_find(inlet, peer)};
	bool holds = claim.holder && claim.holder->connections;

	claim.share = MAX(most / (holders_count(inlet) + !holds), 1);
	claim.due = !claim.holder || claim.holder->connections < claim.share;
	return claim;
}

static bool may_displace(
	const struct claim *claim, const struct connection *connection, enum standing standing)
{
	if (standing == STALLED || standing == MUTE)
		return true;
	if (standing == RESTING && (claim->due || connection->holder == claim->holder))
		return true;
	return claim->due && connection->holder->connections > claim->share;
}

/* Of two that may have to go. */
static bool goes_first(const struct connection *one, enum standing standing, const struct connection *other,
	enum standing other_standing)
{
	if (standing != other_standing)
		return standing < other_standing;
	if (one->holder->connections != other->holder->connections)
		return one->holder->connections > other->holder->connections;
	return one->heard < other->heard;
}

static struct connection *find_victim(const struct inlet *inlet, const struct claim *claim, int64_t timeout)
{
	int64_t now = clock_monotonic();
	struct connection *victim = NULL;
	enum standing worst = STANDINGS;

	for (GList *link = inlet->connections.head; link; link = link->next) {
		struct connection *each = link->data;
		enum standing standing = standing_of(each, now, timeout);

		if (each->guest || !may_displace(claim, each, standing))
			continue;
		if (victim && !goes_first(each, standing, victim, worst))
			continue;
		victim = each;
		worst = standing;
	}
	return victim;
}

/* For `blkin status`: who has the connections while others find no room. */
static void note(struct inlet *inlet, const char *what)
{
	const struct holder *largest = holders_largest(inlet);
	struct inlet_state *state = &inlet->state;

	pthread_mutex_lock(&inlet->lock);
	state->crowded = clock_monotonic();
	state->crowded_connections = inlet->members;
	state->holder_connections = largest ? largest->connections : 0;
	if (largest)
		peer_print(&largest->peer, state->holder);
	pthread_mutex_unlock(&inlet->lock);
	inlet_say(inlet, SAY_CROWDED,
		"%u senders are connected, which is the most (`connections` in [input]), %u of them by %s: "
		"%s",
		inlet->members, state->holder_connections, state->holder, what);
}

/* Room for one more of @peer's; false if there is none. */
static bool make_room(struct inlet *inlet, const struct peer *peer)
{
	struct inlet_limits limits = inlet_limits(inlet);
	struct connection *victim;
	struct claim claim;

	if (inlet->members < limits.connections)
		return true;
	claim = make_claim(inlet, peer, limits.connections);
	victim = find_victim(inlet, &claim, limits.timeout_ns);
	note(inlet,
		victim ? "one at which nothing goes on, or of whoever has the most, is disconnected for a "
			 "new one"
		       : "a new one is told to try later, or turned away");
	if (victim)
		connection_close(victim, INPUT_CLOSED_CROWDED);
	return victim;
}

enum seat limits_admit(struct inlet *inlet, const struct peer *peer)
{
	const unsigned most = count_guests(inlet_limits(inlet).connections);
	const struct holder *holder;

	if (make_room(inlet, peer))
		return SEAT_MEMBER;
	ledger_add(INPUT_TURNED_AWAY, 1);
	holder = holders_find(inlet, peer);
	return inlet->guests < most && (!holder || holder->guests < most / GUESTS_PART) ? SEAT_GUEST
											: SEAT_NONE;
}

bool limits_promote(struct connection *connection)
{
	struct inlet *inlet = connection->inlet;
	struct holder *holder = connection->holder;

	if (!connection->guest)
		return true;
	if (!make_room(inlet, &holder->peer))
		return false;
	connection->guest = false;
	holder->guests--;
	inlet->guests--;
	holder->connections++;
	inlet->members++;
	return true;
}

/* Waiting for our answers, or leaving them unread, keeps no more memory than any connection takes. */
static bool has_unfinished(const struct connection *connection)
{
	return connection->begun && (!connection->paused || connection->weighed > CONNECTION_BYTES);
}

/* Of whoever has the most memory for calls that are not whole, the one that is on its way for longest; and
 * how many such calls there are. */
static struct connection *find_heaviest(struct inlet *inlet, unsigned *count)
{
	struct connection *heaviest = NULL;

	for (GList *link = inlet->connections.head; link; link = link->next) {
		struct connection *each = link->data;

		if (!has_unfinished(each))
			continue;
		(*count)++;
		if (!heaviest || each->holder->bytes > heaviest->holder->bytes ||
			(each->holder == heaviest->holder && each->begun < heaviest->begun))
			heaviest = each;
	}
	return heaviest;
}

bool limits_grown(struct connection *connection)
{
	struct inlet *inlet = connection->inlet;
	const size_t half = inlet_limits(inlet).bytes / 2,
		     most = half - MIN(inlet->connections.length * CONNECTION_BYTES, half / 2);

	while (inlet->in_bytes > most && connection->weighed > 0) {
		unsigned count = 0;
		struct connection *heaviest = find_heaviest(inlet, &count);
		bool own = heaviest == connection;

		if (count < 2) /* a single call has its own bound */
			return true;
		inlet_say(inlet, SAY_CROWDED,
			"%s: connection closed: unfinished calls take more than their part (at most half) of "
			"`memory` in [input], and this one is the oldest of the sender who uses most of it",
			heaviest->peer);
		connection_close(heaviest, INPUT_CLOSED_CROWDED);
		if (own)
			return false;
	}
	return true;
}

unsigned limits_calls(struct inlet *inlet)
{
	const size_t most = inlet_limits(inlet).bytes / 4 / CALL_BYTES;

	return (unsigned)CLAMP(most / MAX(inlet->connections.length, 1), CALLS_MIN, CALLS_MAX);
}

bool limits_overstays(const struct connection *connection, int64_t now)
{
	return connection->guest && now - connection->came > GUEST_NS;
}
