/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a reader says to the agent, which takes it for bytes of a stranger. Of the first byte, bit 0 says what
 * the rest is: the bytes in the ring as they are, or frames, of a byte for the type and two for the size
 * each; bit 1, whether the fuzzer says hello itself; the others in what pieces it comes. Whatever it is, what
 * was taken is in the ledger once, and what was handed over can be encoded, shown and looked at.
 */
#include "fuzz.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <glib.h>

#include "base/utf8.h"
#include "core/ledger.h"
#include "queue/encoding.h"
#include "supervise/inner.h"

#define LARGEST (64 * 1024)

enum { SPANS, EVENTS, QUEUES };

static struct statistics *statistics;
static struct namer *namer;
static struct traces *traces;
static struct subscribers *subscribers;
static struct subscriber *watching;
static struct page page;
static struct queue *queues[QUEUES];

/* The flight recorder runs programs. */
void flight_see(struct flight *flight, const struct namer *of, const struct items *spans)
{
	(void)flight;
	(void)of;
	(void)spans;
}

void flight_snapped(struct flight *flight, uint64_t number, const char *error)
{
	(void)flight;
	(void)number;
	(void)error;
}

static void on_wake(void *data)
{
	(void)data;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	static const struct tail_filter all;

	(void)argc;
	(void)argv;
	statistics = statistics_create();
	namer = statistics_namer(statistics, STATISTICS_READER);
	traces = traces_create(1 << 20);
	subscribers = subscribers_create();
	watching = subscribers_join(subscribers, &all);
	fuzz_hold(watching != NULL, "somebody may watch");
	return 0;
}

/* What comes out of the ring */

/* Takes what there is, as the supervisor's thread does. */
static bool take(struct supervisor *agent)
{
	bool good;

	do {
		channel_collect(&agent->channel);
		good = receive_frames(agent);
	} while (good && !agent->ended && channel_has_more(&agent->channel));
	return good;
}

/* False: the agent has had enough of it. */
static bool say(struct supervisor *agent, const void *data, size_t size, size_t step)
{
	const uint8_t *at = data;

	while (size) {
		size_t put = ring_put(&page.ring, at, MIN(size, step));

		if (!take(agent))
			return false;
		at += put;
		size -= put;
	}
	return true;
}

static bool say_frame(struct supervisor *agent, uint8_t type, const void *body, size_t size, size_t step)
{
	struct frame_header header = {.type = type, .size = (uint32_t)size};

	return say(agent, &header, sizeof(header), step) && say(agent, body, size, step);
}

static bool say_hello(struct supervisor *agent)
{
	struct buffer hello = {0};
	bool good;

	pack_text(&hello, BLKIN_VERSION);
	good = say_frame(agent, FRAME_HELLO, hello.data, hello.size, SIZE_MAX);
	buffer_free(&hello);
	return good;
}

static void say_frames(struct supervisor *agent, const uint8_t *data, size_t size, size_t step)
{
	while (size >= 3) {
		size_t most = MIN(size - 3, (size_t)data[1] | (size_t)data[2] << 8);

		if (!say_frame(agent, data[0], data + 3, most, step))
			return;
		data += 3 + most;
		size -= 3 + most;
	}
}

/* What became of it */

static void hold_wire(const struct batch *wire)
{
	const uint8_t *at = wire->spans.data;

	for (uint32_t i = 0; i < wire->count; at += batch_sizes(wire)[i++]) {
		fuzz_hold(batch_sizes(wire)[i] > 0, "what is sent of an item is something");
		if (wire->format == BATCH_ZIPKIN_JSON || wire->format == BATCH_EVENT_JSON)
			fuzz_hold(utf8_valid((const char *)at, batch_sizes(wire)[i]), "JSON is UTF-8");
	}
	fuzz_hold(at == wire->spans.data + wire->spans.size, "items are all that there is");
}

static void empty(struct queue *queue, enum batch_format format)
{
	struct entry *entry;

	while ((entry = queue_take(queue))) {
		if (!encode_entry(queue, entry, format))
			continue;
		hold_wire(entry_wire(entry));
		account_move(queue_account(queue), SPANS_QUEUED, SPANS_SENT, entry->batch->count);
		queue_release(queue, entry);
	}
	fuzz_hold(queue_bytes(queue) == 0, "nothing is left in the queue");
}

/* Counts may be so large that their sums are not, which is the same for each. */
static void hold_ledger(void)
{
	static const enum ledger_row parts[] = {EVENTS_IN_SPANS, EVENTS_AS_JSON, EVENTS_REJECTED_MALFORMED,
		EVENTS_REJECTED_ID, EVENTS_REJECTED_TIME, EVENTS_IGNORED};
	struct ledger rows;
	uint64_t sum = 0;

	ledger_read(&rows);
	for (size_t i = 0; i < G_N_ELEMENTS(parts); i++)
		sum += (uint64_t)rows.row[parts[i]];
	fuzz_hold(sum == (uint64_t)rows.row[EVENTS_READ], "each event is in one row");
}

/* Words are made harmless where they are shown. */
static bool ends(const char *text, size_t room)
{
	return memchr(text, '\0', room) != NULL;
}

static void hold_state(struct supervisor *agent)
{
	struct supervisor_state state;

	reader_status_read(&agent->status, &state);
	fuzz_hold(ends(state.session, sizeof(state.session)) && ends(state.error, sizeof(state.error)),
		"words have an end");
	fuzz_hold(state.reason < REASONS && state.omissions.events.reason < REASONS &&
			  state.omissions.kernel.reason < REASONS,
		"reasons are known");
	for (int kind = 0; kind < MISUSES; kind++)
		fuzz_hold(ends(state.misuses[kind].is.what, sizeof(state.misuses[kind].is.what)),
			"what is wrong has an end");
	fuzz_hold(
		state.buffers.count <= USERBUFFERS_MAX, "no more users have buffers than there is room for");
}

/* Whole records, one after the other; the last one may not be there to its end yet. */
static void hold_shown(void)
{
	struct buffer shown = {0};
	struct tail_record record;
	size_t at = 0, before;

	do {
		before = shown.size;
		subscriber_take(watching, 1 << 16, &shown);
	} while (shown.size > before);
	for (; shown.size - at >= sizeof(record); at += sizeof(record) + record.size) {
		memcpy(&record, shown.data + at, sizeof(record));
		fuzz_hold(record.kind == TAIL_NEWS || batch_kind((uint8_t)record.kind) == KIND_SPANS,
			"spans and news are shown");
		fuzz_hold(record.size <= shown.size - at - sizeof(record), "a record is whole");
	}
	fuzz_hold(at == shown.size, "and nothing is behind it");
	buffer_free(&shown);
}

static void hold_statistics(void)
{
	struct snapshot snapshot;

	statistics_sweep(statistics);
	statistics_read(statistics, &snapshot);
	for (guint i = 0; i < snapshot.series->len; i++) {
		const struct series *series = &g_array_index(snapshot.series, struct series, i);

		fuzz_hold(series->errors <= series->spans && series->timed <= series->spans,
			"no more have an error than there are");
	}
	snapshot_clear(&snapshot);
}

/* What the agent sends is what a reader can read. */
static void hold_orders(int reader, bool greeted)
{
	uint8_t data[4096];
	ssize_t size = recv(reader, data, sizeof(data), MSG_DONTWAIT);
	struct frame_header header;
	struct unpacker body;
	struct orders orders;

	fuzz_hold(greeted == (size > 0), "who says hello gets orders");
	if (size <= 0)
		return;
	memcpy(&header, data, sizeof(header));
	fuzz_hold(header.type == FRAME_START, "and these first");
	if (header.size > (size_t)size - sizeof(header))
		return;
	body = unpacker_of(data + sizeof(header), header.size);
	fuzz_hold(orders_unpack(&body, &orders), "orders can be read");
	g_array_unref(orders.suspects);
}

static struct outlet outlet_of(enum kind kind, const char *output, struct queue **queue)
{
	static const struct queue_limits limits = {.bytes = 1 << 20};

	*queue = queue_create(&limits, account_open(output), on_wake, NULL);
	return (struct outlet){*queue, {kind, 100, 1 << 16, NS_PER_SECOND}};
}

static struct fanout *open_outputs(void)
{
	struct outlet outlets[QUEUES] = {outlet_of(KIND_SPANS, "default", &queues[SPANS]),
		outlet_of(KIND_EVENTS, "default:events", &queues[EVENTS])};

	return fanout_create(outlets_create(outlets, QUEUES));
}

static void open_agent(struct supervisor *agent, int socket, struct fanout *fanout)
{
	fuzz_clear_folder();
	ring_reset(&page.ring);
	agent->options = (struct supervisor_options){.fanout = fanout,
		.checkpoint = checkpoint_open(fuzz_folder(), fanout),
		.namer = namer,
		.traces = traces,
		.subscribers = subscribers};
	fuzz_hold(agent->options.checkpoint != NULL, "there is a checkpoint");
	agent->suspects = crash_suspects_create();
	agent->settings.events = 1;
	pthread_mutex_init(&agent->lock, NULL);
	reader_status_init(&agent->status, &page);
	channel_init(&agent->channel, socket, &page.ring, LARGEST);
}

static void close_agent(struct supervisor *agent)
{
	channel_free(&agent->channel);
	reader_status_free(&agent->status);
	pthread_mutex_destroy(&agent->lock);
	crash_suspects_destroy(agent->suspects);
	checkpoint_close(agent->options.checkpoint);
	buffer_free(&agent->spans.sizes);
	buffer_free(&agent->spans.events);
	buffer_free(&agent->events.sizes);
	buffer_free(&agent->events.events);
	buffer_free(&agent->traits);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct supervisor agent = {0};
	struct fanout *fanout;
	size_t step;
	int ends[2];

	if (size < 1)
		return 0;
	step = data[0] >> 4 ? (size_t)(data[0] >> 4) * 7 : SIZE_MAX;
	fuzz_hold(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "there are sockets");
	fanout = open_outputs();
	open_agent(&agent, ends[0], fanout);
	if (data[0] & 2 || say_hello(&agent)) {
		if (data[0] & 1)
			say(&agent, data + 1, size - 1, step);
		else
			say_frames(&agent, data + 1, size - 1, step);
	}
	fanout_end(fanout);
	hold_orders(ends[1], agent.greeted);
	hold_ledger();
	hold_state(&agent);
	hold_shown();
	hold_statistics();
	empty(queues[SPANS], (enum batch_format)(data[0] % 3));
	empty(queues[EVENTS], data[0] & 4 ? BATCH_EVENT_JSON : BATCH_EVENT_OTLP);
	close_agent(&agent);
	fanout_destroy(fanout);
	queue_end(queues[SPANS]);
	queue_end(queues[EVENTS]);
	close(ends[1]);
	return 0;
}
