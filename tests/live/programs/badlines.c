/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Spans whose text is whatever comes to its mind: lines of all marks, good and broken, cut off, in pieces
 * that are missing, come twice, or belong to nothing. It calls the provider by itself, as no program should.
 *
 *     badlines any SEED COUNT            COUNT events of any kind
 *     badlines open COUNT SIZE           the first pieces of COUNT spans, of SIZE bytes each, which never end
 *     badlines tags BYTES                a span of a single event, of tags of two bytes
 *     badlines orphans BYTES             the same in pieces, without their span
 *     badlines names COUNT               SDK's spans, each of a service, a scope and a name of its own
 *     badlines steal TRACE SPAN SERVICE  pieces, and then the end, of a span under these ids, again and again
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include <blkin/blkin.h>
#include <blkin/marks.h>

#define TEXT_MAX (256 * 1024)
/* Spans of so many ids at a time: they get into each other's way. */
#define IDS 64

static uint64_t state;
static char text[TEXT_MAX + 4096];
static size_t used;

/* xorshift64* */
static uint64_t dice(uint64_t below)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * UINT64_C(2685821657736338717) % below;
}

static __attribute__((format(printf, 1, 2))) void put(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	used += (size_t)vsnprintf(text + used, sizeof(text) - used, format, args);
	va_end(args);
	if (used > TEXT_MAX)
		used = TEXT_MAX;
}

/* Any bytes but NUL. */
static void put_bytes(size_t count)
{
	for (size_t i = 0; i < count && used < TEXT_MAX; i++)
		text[used++] = (char)(1 + dice(255));
	text[used] = '\0';
}

static void put_number(void)
{
	static const char *const numbers[] = {"", "0", "1", "-1", "+5", "00000000000000000000001",
		"999999999999999999", "9999999999999999999", "18446744073709551616", "9223372036854775807",
		"-9223372036854775808", "1e999", "-inf", "nan", "0x10", " 7", "1.5", "1,2",
		"4000000000000000000", "4000000000000000001", "1700000000000000000"};

	if (dice(2))
		put("%s", numbers[dice(sizeof(numbers) / sizeof(*numbers))]);
	else
		put("%" PRIu64, dice(UINT64_C(1) << (1 + dice(62))));
}

static void put_word(void)
{
	static const char *const words[] = {"", "key", "error", "service.name", "peer.service",
		"otel.status_code", "\\", "\\n\\0\\\\\\e\\c", "\\x", "=", ",", "\xff\xfe", "\xed\xa0\x80",
		"sdk", "status", "blkin.truncated", "#\\tk", "net.peer.ip", "server.port", "host.name",
		"process.pid", "process.executable.name"};

	if (dice(20) == 0)
		put_bytes(dice(3000));
	else
		put("%s", words[dice(sizeof(words) / sizeof(*words))]);
}

static void put_attribute(void)
{
	char letter = "tidbnxT["[dice(8)];
	bool list = dice(4) == 0;

	put("%s%c", list ? "[" : "", letter);
	put_word();
	put("%s", dice(20) ? "=" : "");
	for (uint64_t i = list ? dice(dice(30) ? 5 : 3000) : 1; i; i--) {
		dice(2) ? put_number() : put_word();
		put("%s", list ? "," : "");
	}
}

static void put_ids(void)
{
	for (uint64_t i = 30 + dice(4); i; i--)
		put("%c", "0123456789abcdefABCDEFg-"[dice(dice(10) ? 16 : 24)]);
}

static void put_line(void)
{
	static const char *const marks[] = {"#\\", "#+", "#*", "#:", "#%"};
	static const char *const notes[] = {"status=ok", "status=error", "status=unset", "status=bad", "sdk",
		"sdk=1", "state", "scope", "version", "scope-schema", "resource-schema", "dropped", "time",
		"nothing"};

	switch (dice(12)) {
	case 0:
		put("#@%c", "+-x"[dice(3)]);
		put_number();
		put("=");
		put_word();
		break;
	case 1:
		put("#>%032" PRIx64 "-%016" PRIx64 "-%08x=", dice(1u << 30), dice(1u << 30),
			(unsigned)dice(1u << 30));
		put_word();
		break;
	case 2:
		put("#>");
		put_ids();
		put("-");
		put_number();
		break;
	case 3:
	case 4:
		put("#!%s%s", notes[dice(sizeof(notes) / sizeof(*notes))], dice(2) ? "=" : " ");
		dice(2) ? put_number() : put_word();
		break;
	case 5:
		put("%c", "+-"[dice(2)]);
		put_number();
		put(" ");
		put_word();
		break;
	case 6:
		put("!%s ", dice(2) ? "finish" : "pieces");
		put_number();
		break;
	case 7:
		put("%c", "@&#"[dice(3)]);
		put_bytes(dice(40));
		break;
	default:
		put("%s", marks[dice(sizeof(marks) / sizeof(*marks))]);
		put_attribute();
	}
	put("%s", dice(100) ? "\n" : "");
}

static void put_lines(void)
{
	for (uint64_t i = dice(dice(50) ? 12 : 400); i && used < 60000; i--)
		put_line();
}

static void change(size_t from)
{
	for (uint64_t i = dice(3); i && used > from; i--)
		text[from + dice(used - from)] = (char)(1 + dice(255));
}

static const char *const heads[] = {"local 0 - bad", "client 1 10.9.9.9 bad", "server,shared 0 - bad",
	"local,debug,high=00000000000000bb 0 - bad", "nothing", ""};

static void begin(void)
{
	used = 0;
	text[0] = '\0';
}

/* Writes the text as a span's event. */
static void record_span(uint64_t trace, uint64_t span, uint64_t start)
{
	static char piece[BLKIN_FRONT_ + BLKIN_IDS_TEXT_ + 64 + sizeof(text)];
	char *to = piece + BLKIN_FRONT_;

	blkin_put_ids_(to, trace, span, dice(3), start);
	to += BLKIN_IDS_TEXT_;
	to += sprintf(to, "03 bad\n");
	memcpy(to, text, used + 1);
	blkin_provider_->whole[BLKIN_INFO](piece, (size_t)(to - piece) - BLKIN_FRONT_ + used + 1);
}

static void record_piece(uint64_t trace, uint64_t span, const char *head, const char *key, const char *value)
{
	const struct blkin_span_record record = {trace, span, 0, blkin_now(), "bad", head};

	blkin_provider_->tag(&record, key, value);
}

static void any_piece(uint64_t trace, uint64_t span, uint64_t now)
{
	char key[200];

	put_lines();
	if (dice(3) == 0)
		change(0);
	snprintf(key, sizeof(key), "#~%" PRIu64 "%c%" PRIu64, dice(10) ? dice(5) : dice(UINT64_C(1) << 62),
		"+--+x"[dice(5)], dice(4) ? now : dice(UINT64_MAX));
	record_piece(trace, span, heads[dice(dice(9) ? 4 : 6)], dice(9) ? key : "#~", text);
}

static void any_event(void)
{
	uint64_t now = blkin_now(), id = 1 + dice(IDS), start = now - dice(1000000000);

	begin();
	if (dice(2)) {
		any_piece(0xbad0000 + id, id, now);
		return;
	}
	put("%s\n", heads[dice(dice(9) ? 4 : 6)]);
	put_lines();
	if (dice(2))
		put("!pieces %" PRIu64 "\n", dice(6));
	if (dice(4) == 0)
		change(0);
	record_span(dice(50) ? 0xbad0000 + id : 0, dice(50) ? id : 0, dice(20) ? start : dice(UINT64_MAX));
}

static void any(uint64_t count)
{
	for (; count; count--) {
		any_event();
		if (count % 64 == 0)
			usleep(1000);
	}
}

static void open_spans(uint64_t count, size_t size)
{
	char key[100];

	begin();
	put("key=");
	while (used < size && used < TEXT_MAX - 2)
		put("x");
	put("\n");
	for (uint64_t i = 1; i <= count; i++) {
		snprintf(key, sizeof(key), "#~1+%" PRIu64, blkin_now() - 1);
		record_piece(0xbad0000000 + i, i, heads[0], key, text);
		if (i % 64 == 0)
			usleep(1000);
	}
}

static void tags(size_t bytes)
{
	begin();
	put("%s\n#!sdk=1\n", heads[0]);
	while (used < bytes)
		put("=\n");
	record_span(0xbad1, 1, blkin_now() - 1);
}

static void orphans(size_t bytes)
{
	char key[100];

	for (uint64_t number = 1; bytes > 0; number++) {
		size_t part = bytes < 60000 ? bytes : 60000;

		begin();
		put("%s", number == 1 ? "#!sdk=1\n" : "");
		while (used < part)
			put("=\n");
		snprintf(key, sizeof(key), "#~%" PRIu64 "+%" PRIu64, number, blkin_now() - 1);
		record_piece(0xbad2, 1, heads[0], key, text);
		bytes -= part;
		usleep(1000);
	}
}

static void names(uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		begin();
		put("%s\n#!sdk=1\n#!scope=scope %" PRIu64 "\n#:tservice.name=service %" PRIu64
		    "\n#:thost.name=host %" PRIu64 "\n",
			heads[0], i, i, i);
		record_span(0xbad3, 1 + i, blkin_now() - 1);
		if (i % 64 == 0)
			usleep(1000);
	}
}

/* Until it is ended. */
static void steal(uint64_t trace, uint64_t span, const char *service)
{
	char head[200], key[100];

	snprintf(head, sizeof(head), "local 0 - %s", service);
	for (;;) {
		snprintf(key, sizeof(key), "#~2+%" PRIu64, blkin_now() - 1);
		record_piece(trace, span, head, key, "stolen=yes\nno line at all\n");
		begin();
		put("%s\nstolen=yes\n!pieces 1\n", head);
		record_span(trace, span, blkin_now() - 1);
		usleep(1000);
	}
}

static uint64_t number(const char *word)
{
	return strtoull(word, NULL, 0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!blkin_provider_->whole[BLKIN_INFO])
		return 3;
	state = 1;
	if (argc == 4 && !strcmp(what, "any")) {
		state = 2 * number(argv[2]) + 1;
		any(number(argv[3]));
	} else if (argc == 4 && !strcmp(what, "open")) {
		open_spans(number(argv[2]), number(argv[3]));
	} else if (argc == 3 && !strcmp(what, "tags")) {
		tags(number(argv[2]));
	} else if (argc == 3 && !strcmp(what, "orphans")) {
		orphans(number(argv[2]));
	} else if (argc == 3 && !strcmp(what, "names")) {
		names(number(argv[2]));
	} else if (argc == 5 && !strcmp(what, "steal")) {
		steal(number(argv[2]), number(argv[3]), argv[4]);
	} else {
		return 64;
	}
	printf("done\n");
	return 0;
}
