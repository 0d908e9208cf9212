/* SPDX-License-Identifier: BSD-2-Clause */
#include "reader/users.h"

#include "base/clock.h"
#include "handover/frames.h"

/* A trace may have no whole metadata for so long, while the session daemon is slow. */
#define YOUNG_NS (5 * NS_PER_SECOND)

GPtrArray *users_create(const GArray *suspects)
{
	GPtrArray *users = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < suspects->len; i++) {
		const struct suspect *suspect = &g_array_index(suspects, struct suspect, i);
		struct user *user = users_get(users, suspect->user);

		user->suspect = true;
		user->waits_until = clock_monotonic() + suspect->wait;
	}
	return users;
}

struct user *users_get(GPtrArray *users, uint64_t id)
{
	struct user *user;

	for (guint i = 0; i < users->len; i++) {
		user = g_ptr_array_index(users, i);
		if (user->id == id)
			return user;
	}
	user = g_new0(struct user, 1);
	user->id = id;
	g_ptr_array_add(users, user);
	return user;
}

bool users_any(const GPtrArray *users, bool (*is)(const struct user *user))
{
	for (guint i = 0; i < users->len; i++)
		if (is(g_ptr_array_index(users, i)))
			return true;
	return false;
}

bool user_is_suspect(const struct user *user)
{
	return user->suspect;
}

bool user_waits(const struct user *user)
{
	return user->suspect && clock_monotonic() < user->waits_until;
}

bool user_is_left_out(const struct user *user)
{
	return user->left_out;
}

bool user_is_young(struct user *user)
{
	if (!user->unopened)
		user->unopened = clock_monotonic();
	return clock_monotonic() - user->unopened < YOUNG_NS;
}

void users_all_read(const GPtrArray *users)
{
	for (guint i = 0; i < users->len; i++) {
		struct user *user = g_ptr_array_index(users, i);

		if (!user->left_out)
			user->unopened = 0;
	}
}

void users_forget_session(const GPtrArray *users)
{
	for (guint i = 0; i < users->len; i++) {
		struct user *user = g_ptr_array_index(users, i);

		user->left_out = false;
		user->unopened = 0;
	}
}
