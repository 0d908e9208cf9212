/* SPDX-License-Identifier: BSD-2-Clause */
/* Which streams of a session move, with a relay daemon of the test's own. */
#include <check.h>
#include <fcntl.h>

#include <glib.h>

#include "base/clock.h"
#include "session/position.h"
#include "session/relayprobe.h"

#include "run.h"

#define STREAMS 3
/* So often, at least, in two seconds. */
#define LOOK_TURNS 5

/* What a stream does: it has no packet ever, is idle up to a time that grows, or has ended. */
enum does { NONE, STANDS, MOVES, ENDED };

static struct {
	uint64_t user;
	enum does does;
} has[STREAMS];

/* In the place of the viewer */

int viewer_open(const struct config *config)
{
	(void)config;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool viewer_find(int fd, const struct session_identity *identity, struct viewer_session *session)
{
	(void)fd, (void)identity;
	*session = (struct viewer_session){.id = 1};
	return true;
}

bool viewer_attach(int fd, uint64_t session, GArray *streams)
{
	(void)fd, (void)session;
	for (uint64_t i = 0; i < STREAMS; i++) {
		struct viewer_stream stream = {.id = i, .user = has[i].user};

		if (has[i].does != NONE)
			g_array_append_val(streams, stream);
	}
	return true;
}

enum viewer_next viewer_next(int fd, uint64_t stream, uint64_t *time)
{
	(void)fd;
	if (has[stream].does == ENDED)
		return VIEWER_ENDED;
	*time = (uint64_t)clock_monotonic();
	return has[stream].does == MOVES ? VIEWER_IDLE : VIEWER_NOTHING;
}

static const struct {
	enum does one, other, kernel; /* streams of two users, and the kernel's */
	enum probed probed;
	unsigned stuck;
} cases_of[] = {
	{NONE, NONE, NONE, PROBED_NOTHING, 0},
	{ENDED, NONE, NONE, PROBED_NOTHING, 0},
	{MOVES, MOVES, MOVES, PROBED_MOVES, 0},
	{MOVES, STANDS, NONE, PROBED_STUCK, 1},
	{MOVES, STANDS, MOVES, PROBED_STUCK, 1},
	{MOVES, STANDS, STANDS, PROBED_STUCK, 1}, /* the kernel's is nobody's program */
	/* it has another consumer daemon, and that of programs passes on nothing */
	{STANDS, STANDS, MOVES, PROBED_STILL, 2},
	{STANDS, NONE, MOVES, PROBED_STILL, 1},
	{STANDS, STANDS, STANDS, PROBED_STILL, 2},
	{STANDS, NONE, NONE, PROBED_STILL, 1},
	{MOVES, MOVES, STANDS, PROBED_KERNEL, 0},
	{MOVES, ENDED, STANDS, PROBED_KERNEL, 0},
	{NONE, NONE, STANDS, PROBED_KERNEL, 0},
	{NONE, NONE, MOVES, PROBED_ALONE, 0},
	{ENDED, NONE, MOVES, PROBED_ALONE, 0},
};

static void note_turn(void *data)
{
	unsigned *turns = data;

	++*turns;
}

START_TEST(who_moves)
{
	static const struct session_identity session = {.name = "blkin"};
	const struct config config = {.live_timer = NS_PER_MS};
	g_autoptr(GArray) stuck = g_array_new(FALSE, TRUE, sizeof(struct viewer_stream));
	unsigned turns = 0;

	has[0].user = 1000;
	has[0].does = cases_of[_i].one;
	has[1].user = 1001;
	has[1].does = cases_of[_i].other;
	has[2].user = KERNEL_USER;
	has[2].does = cases_of[_i].kernel;
	ck_assert_int_eq(relayprobe_run(&config, &session, stuck, note_turn, &turns), cases_of[_i].probed);
	ck_assert_uint_eq(stuck->len, cases_of[_i].stuck);
	/* who waits for streams for long shows that it lives */
	ck_assert(!stuck->len || turns >= LOOK_TURNS);
	for (guint i = 0; i < stuck->len; i++)
		ck_assert_uint_ne(g_array_index(stuck, struct viewer_stream, i).user, KERNEL_USER);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("all");

	tcase_set_timeout(cases, 60);
	tcase_add_loop_test(cases, who_moves, 0, G_N_ELEMENTS(cases_of));
	return run_cases("relayprobe", cases);
}
