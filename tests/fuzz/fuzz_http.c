/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What comes on the agent's control socket, or on its HTTP port: the server is the same. It answers or hangs
 * up, and goes on. A NUL ends a piece of what is sent.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <event2/event.h>
#include <glib.h>

#include "config/load.h"
#include "output/spool/spoolname.h"
#include "session/sessiond.h"
#include "status/http.h"

static struct event_base *base;
static struct http *http;
static struct config config;
static struct reload_state reload;
static struct status_source source;

/* The parts that a status is read from. */

struct outputs_counts outputs_read(
	const struct outputs *outputs, struct ledger *rows, struct output_state *states, size_t max)
{
	(void)outputs;
	memset(rows, 0, sizeof(*rows));
	memset(states, 0, max * sizeof(*states));
	states[0].name = "default";
	states[0].uplink.type = "scribe";
	states[0].uplink.server = "127.0.0.1:9410";
	return (struct outputs_counts){.on = 1};
}

enum outputs_answer outputs_discard(const struct outputs *outputs, const char *name,
	const struct outputs_order *order, struct discard_state *state)
{
	(void)outputs;
	fuzz_hold(spoolname_is_good(name), "only an output can be named");
	fuzz_hold(!order || order->before >= 0, "there is no time before the epoch");
	*state = (struct discard_state){.order = 1, .over = true};
	return strcmp(name, "default") == 0 ? OUTPUTS_DONE : OUTPUTS_NO_OUTPUT;
}

void supervisor_read_state(struct supervisor *collector, struct supervisor_state *state)
{
	(void)collector;
	memset(state, 0, sizeof(*state));
	state->collecting = true;
}

void supervisor_read_canary(struct supervisor *collector, struct canary_state *state)
{
	(void)collector;
	memset(state, 0, sizeof(*state));
}

void supervisor_read_flight(struct supervisor *collector, struct flight_failure *failure)
{
	(void)collector;
	memset(failure, 0, sizeof(*failure));
}

int64_t supervisor_reader_progress(const struct supervisor *collector)
{
	(void)collector;
	return 0;
}

unsigned supervisor_left_out(struct supervisor *collector, uint64_t *users, unsigned max)
{
	(void)collector;
	(void)users;
	(void)max;
	return 0;
}

bool supervisor_lacks_memory(struct supervisor *collector)
{
	(void)collector;
	return false;
}

void inputs_read_state(struct inputs *inputs, struct inlet_state states[INPUTS])
{
	(void)inputs;
	for (size_t i = 0; i < INPUTS; i++)
		states[i] = (struct inlet_state){.address = "127.0.0.1:1463", .loop_peer = "127.0.0.1:2000"};
}

void activity_read(struct activity *activity, struct activity_state *state)
{
	(void)activity;
	memset(state, 0, sizeof(*state));
}

int activity_programs(const struct activity *activity)
{
	(void)activity;
	return -1;
}

char *sessiond_group(void)
{
	return g_strdup("tracing");
}

enum sessiond_answer sessiond_ask(const char *tracing_group)
{
	(void)tracing_group;
	return (enum sessiond_answer)0;
}

static void start(void)
{
	bool hopeless = false;
	struct statistics *statistics = statistics_create();

	base = event_base_new();
	config_init(&config);
	g_free(config.socket);
	config.socket = g_build_filename(fuzz_folder(), "agent.sock", NULL);
	g_free(config.http);
	config.http = g_strdup("");
	g_free(config.state_directory);
	config.state_directory = g_strdup(fuzz_folder());
	source = (struct status_source){.config = &config,
		.reload = &reload,
		.statistics = statistics,
		.monitor = monitor_create(statistics, &config),
		.subscribers = subscribers_create()};
	http = http_create(base, &source, &hopeless);
	fuzz_hold(http != NULL, "it listens");
}

static int connect_to(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	g_strlcpy(address.sun_path, path, sizeof(address.sun_path));
	fuzz_hold(connect(fd, (const struct sockaddr *)&address, sizeof(address)) == 0, "it accepts");
	return fd;
}

/* Reads what is answered; returns whether the connection is over. */
static bool drain(int fd)
{
	char answer[4096];
	ssize_t got;

	while ((got = recv(fd, answer, sizeof(answer), 0)) > 0)
		;
	return got == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	bool over = false;
	int fd;

	if (!http)
		start();
	fd = connect_to(config.socket);
	while (data < end && !over) {
		const uint8_t *stop = memchr(data, '\0', (size_t)(end - data));
		size_t piece = (size_t)((stop ? stop : end) - data);

		over = piece > 0 && send(fd, data, piece, MSG_NOSIGNAL) < 0;
		data += piece + (stop != NULL);
		for (int i = 0; i < 3; i++)
			event_base_loop(base, EVLOOP_NONBLOCK);
		over |= drain(fd);
	}
	shutdown(fd, SHUT_WR);
	for (int i = 0; i < 1000 && !over; i++) {
		event_base_loop(base, EVLOOP_NONBLOCK);
		over = drain(fd);
	}
	fuzz_hold(over, "who hangs up is let go");
	close(fd);
	event_base_loop(base, EVLOOP_NONBLOCK);
	return 0;
}
