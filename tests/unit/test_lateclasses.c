/* SPDX-License-Identifier: BSD-2-Clause */
/* What is held back of a trace's metadata, as they come piece by piece, and when it comes back. */
#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <glib.h>

#include "reader/decode/lateclasses.h"

#include "run.h"

#define TRACE "trace {\n\tmajor = 1;\n};\n\n"
#define STREAM(id) "stream {\n\tid = " id ";\n\tevent.header := struct event_header_large;\n};\n\n"
#define EVENT(name, stream)                                                                                  \
	"event {\n\tname = \"" name "\";\n\tid = 0;\n\tstream_id = " stream                                  \
	";\n\tfields := struct {\n\t\tstring _a;\n\t};\n};\n\n"

/* As babeltrace2 2.1 does; or else as 2.0, which hands the packets to fmemopen. */
static bool only_receives;

static void receive(const char *packet, size_t size, char *data)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	ck_assert_int_eq(send(fds[0], packet, size, 0), (ssize_t)size);
	ck_assert_int_eq(recv(fds[1], data, size, 0), (ssize_t)size);
	close(fds[0]);
	close(fds[1]);
}

static void open_packet(char *packet, size_t size, char *data)
{
	FILE *file = fmemopen(packet, size, "rb");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fread(data, 1, size, file), size);
	fclose(file);
}

/* The plugin gets the packets, and then hands the text in them to fmemopen; what it reads there instead. */
static const char *read_back(char uuid, const char *text)
{
	static char packet[64], data[4096];
	const uint32_t magic = UINT32_C(0x75d11d57);
	FILE *file;
	size_t size;

	memset(packet, uuid, sizeof(packet));
	memcpy(packet, &magic, sizeof(magic));
	if (only_receives)
		receive(packet, sizeof(packet), data);
	else
		open_packet(packet, sizeof(packet), data);
	ck_assert_mem_eq(data, packet, sizeof(packet));
	file = fmemopen((void *)(uintptr_t)text, strlen(text), "rb");
	ck_assert_ptr_nonnull(file);
	size = fread(data, 1, sizeof(data) - 1, file);
	fclose(file);
	data[size] = '\0';
	return data;
}

START_TEST(in_order)
{
	only_receives = _i;
	lateclasses_hold();
	ck_assert_str_eq(
		read_back('a', TRACE STREAM("0") EVENT("x", "0")), TRACE STREAM("0") EVENT("x", "0"));
	ck_assert_str_eq(read_back('a', EVENT("y", "0")), EVENT("y", "0"));
	/* in one piece they may come in any order */
	ck_assert_str_eq(
		read_back('b', TRACE EVENT("x", "0") STREAM("0")), TRACE EVENT("x", "0") STREAM("0"));
	lateclasses_forget();
}
END_TEST

START_TEST(events_first)
{
	only_receives = _i;
	lateclasses_hold();
	ck_assert_str_eq(read_back('a', TRACE EVENT("x", "0") EVENT("y", "1")), TRACE "\n\n");
	ck_assert_ptr_nonnull(strstr(read_back('a', EVENT("z", "0")), "struct blkin_nothing_"));
	ck_assert_str_eq(read_back('b', TRACE STREAM("0")), TRACE STREAM("0")); /* another user's */
	ck_assert_ptr_nonnull(strstr(read_back('a', STREAM("0")), "\"x\""));
	ck_assert_ptr_nonnull(strstr(read_back('a', STREAM("1")), "\"y\""));
	ck_assert_str_eq(read_back('a', EVENT("w", "1")), EVENT("w", "1"));
	lateclasses_forget();
}
END_TEST

START_TEST(all_that_was_held_comes)
{
	const char *text;

	only_receives = _i;
	lateclasses_hold();
	read_back('a', TRACE EVENT("x", "0"));
	read_back('a', EVENT("y", "0") EVENT("z", "1"));
	text = read_back('a', STREAM("0") EVENT("w", "0"));
	for (const char *name = "xyw"; *name; name++) {
		char word[] = {'"', *name, '"', '\0'};

		ck_assert_ptr_nonnull(strstr(text, word));
		ck_assert_ptr_null(strstr(strstr(text, word) + 1, word));
	}
	ck_assert_ptr_null(strstr(text, "\"z\""));
	lateclasses_forget();
}
END_TEST

START_TEST(not_looked_at)
{
	ck_assert_str_eq(read_back('a', TRACE EVENT("x", "0")), TRACE EVENT("x", "0"));
	lateclasses_hold();
	read_back('a', TRACE EVENT("x", "0"));
	lateclasses_hold(); /* another reader */
	ck_assert_ptr_null(strstr(read_back('a', TRACE STREAM("0")), "\"x\""));
	lateclasses_forget();
}
END_TEST

START_TEST(nonsense)
{
	static const char *const texts[] = {"event {\n", "event {\n\tstream_id = 0;\n", "event {\n};\n",
		"stream {\n};\n", "event {\n\tstream_id = no;\n};\n", "event {\nevent {\nstream {\n", "x"};

	lateclasses_hold();
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		ck_assert_str_eq(read_back('a', texts[i]), texts[i]);
	lateclasses_forget();
}
END_TEST

/* Processor time that it takes to read so many classes, half of them too early. */
static clock_t time_of(unsigned count)
{
	GString *text = g_string_new(TRACE STREAM("0"));
	clock_t begun;

	for (unsigned i = 0; i < count; i++)
		g_string_append(text, i % 2 ? EVENT("x", "0") : EVENT("y", "1"));
	lateclasses_hold();
	begun = clock();
	read_back('a', text->str);
	begun = clock() - begun;
	lateclasses_forget();
	g_string_free(text, TRUE);
	return begun;
}

/* A program may declare thousands: twenty times as many take no more than fifty times as long. */
START_TEST(many)
{
	clock_t few = 0, most = 0;

	for (int i = 0; i < 5; i++) {
		few += time_of(1000);
		most += time_of(20000);
	}
	ck_assert_msg(most < 50 * few, "%ld against %ld", (long)most, (long)few);
}
END_TEST

int main(void)
{
	TCase *cases = tcase_create("lateclasses");

	tcase_add_loop_test(cases, in_order, 0, 2);
	tcase_add_loop_test(cases, events_first, 0, 2);
	tcase_add_loop_test(cases, all_that_was_held_comes, 0, 2);
	tcase_add_test(cases, not_looked_at);
	tcase_add_test(cases, nonsense);
	tcase_add_test(cases, many);
	return run_cases("lateclasses", cases);
}
