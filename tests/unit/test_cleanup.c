/* SPDX-License-Identifier: BSD-2-Clause */
/* Removing what is left of sessions, with daemons and files of the test's own. */
#include <check.h>
#include <stdlib.h>

#include <glib.h>

#include "reader/cleanup.h"
#include "session/relayremove.h"
#include "session/session.h"

#include "run.h"

/* As often as is tried. */
enum { TRIES = 60 };
/* Files of a session that nobody can remove, and one that is as it should be. */
enum { LEFT = 1, GOES };

static GArray *over;
static int cleared, destroyed;

/* In the place of those that read the checkpoint, ask the daemons, and remove files. */
const GArray *progress_over(const struct progress *progress)
{
	(void)progress;
	return over;
}

void progress_removed(struct progress *progress, guint index)
{
	(void)progress;
	g_array_remove_index(over, index);
}

bool session_take_down(const struct config *config, const struct session_identity *session, bool was_cleared)
{
	(void)config;
	if (session->created == LEFT || destroyed)
		return true;
	*(was_cleared ? &destroyed : &cleared) += 1;
	return false;
}

enum relayfiles_status relayfiles_open(const char *output, const struct session_identity *session,
	struct relayfiles **files, char *error, size_t error_size)
{
	(void)output, (void)error, (void)error_size;
	*files = GSIZE_TO_POINTER(session->created);
	return RELAYFILES_OK;
}

bool relay_remove(struct relayfiles *files)
{
	return GPOINTER_TO_SIZE(files) != LEFT;
}

void relayfiles_close(struct relayfiles *files)
{
	(void)files;
}

static void add(uint64_t created)
{
	const struct session_identity session = {.created = created};

	g_array_append_val(over, session);
}

/* Whether @created is still to be removed. */
static bool is_there(uint64_t created)
{
	for (guint i = 0; i < over->len; i++)
		if (g_array_index(over, struct session_identity, i).created == created)
			return true;
	return false;
}

static void run(struct cleanup *cleanup, int times)
{
	for (int i = 0; i < times; i++) {
		cleanup->next = 0;
		cleanup_run(cleanup);
	}
}

/* One that cannot be removed is given up in the end, and not others that came meanwhile. */
START_TEST(each_session_has_its_tries)
{
	static const struct config config;
	struct cleanup cleanup = {.config = &config};

	over = g_array_new(FALSE, FALSE, sizeof(struct session_identity));
	add(LEFT);
	run(&cleanup, TRIES - 1);
	ck_assert(is_there(LEFT));
	add(GOES);
	run(&cleanup, 1);
	ck_assert(is_there(GOES));
	ck_assert_int_eq(cleared, 1);
	run(&cleanup, 2);
	ck_assert_int_eq(destroyed, 1);
	ck_assert(!is_there(GOES));
	run(&cleanup, TRIES);
	ck_assert(!is_there(LEFT));
	g_array_unref(over);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("cleanup");

	tcase_add_test(cases, each_session_has_its_tries);
	return run_cases("cleanup", cases);
}
