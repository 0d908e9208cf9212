/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A collector for loads that are too fast for Python: takes Scribe's Log() calls and Zipkin's POSTs on one
 * port, and writes to a file which of spanload's spans came, and when, before it answers that it took them.
 *
 *     idsink PORT FILE
 *
 * A record of FILE is 24 bytes, little-endian: process and thread (16 bits each), ordinal (32), time (64, ns
 * since the epoch, one for a call), and how long ago the span began (64, ns).
 *
 * SIGUSR1: it answers "not now" from here on, and SIGUSR2: it refuses everything; SIGHUP: it takes spans
 * again. SIGTERM ends it.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#define CALL_MAX (64 * 1024 * 1024)
#define PLAIN_MAX (16 * 1024 * 1024)
#define HEAD 23 /* version, "Log", seqid, field 1: list, of struct; then the count */
#define SEQID_AT 11
#define LIST_HEAD 5 /* of struct; then the count */
/* zlib's number for gzip's format with the largest window. */
#define GZIP_WINDOW (15 + 16)
/* spanload's spans begin so long before they are recorded. */
#define EARLIER 2000000

struct record {
	uint16_t process, thread;
	uint32_t ordinal;
	int64_t time, age;
};

struct run {
	const uint8_t *at, *end;
};

/* The records of one call. */
struct records {
	struct record *list;
	uint32_t count;
	int64_t now, monotonic;
};

static int file;
static volatile sig_atomic_t mood_now; /* the last signal: SIGUSR1, SIGUSR2, or another for a good mood */

static uint32_t get_u32(const uint8_t *from)
{
	uint32_t value;

	memcpy(&value, from, sizeof(value));
	return ntohl(value);
}

/* Takes a string, behind its field's type and id; false if there is none. */
static bool take_string(struct run *run, struct run *string)
{
	uint32_t size;

	if (run->end - run->at < 7 || run->at[0] != 11)
		return false;
	size = get_u32(run->at + 3);
	run->at += 7;
	if ((size_t)(run->end - run->at) < size)
		return false;
	*string = (struct run){run->at, run->at + size};
	run->at += size;
	return true;
}

static size_t decode_base64(uint8_t *to, const struct run *text)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	static uint8_t value[256];
	uint8_t *start = to;
	uint32_t bits = 0;
	int have = 0;

	if (!value['B'])
		for (int i = 0; i < 64; i++)
			value[(uint8_t)digits[i]] = (uint8_t)i;
	for (const uint8_t *at = text->at; at < text->end && *at != '='; at++) {
		bits = bits << 6 | value[*at];
		have += 6;
		if (have >= 8)
			*to++ = (uint8_t)(bits >> (have -= 8));
	}
	return (size_t)(to - start);
}

static int64_t read_clock(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Finds the value of a tag, of which @key is the size and the text; goes on behind it. */
static const char *take_tag(struct run *run, const char *key, size_t key_size)
{
	const uint8_t *found = memmem(run->at, (size_t)(run->end - run->at), key, key_size);

	/* behind the key: field 2's type, id and size */
	if (!found || (size_t)(run->end - found) < key_size + 7)
		return NULL;
	run->at = found + key_size + 7;
	return (const char *)run->at;
}

/* The bytes behind the span end its numbers. */
static bool add_record(struct records *records, const char *worker, const char *ordinal, const char *start)
{
	struct record *record = &records->list[records->count];
	char *dot;

	if (!worker || !ordinal || !start)
		return false;
	record->process = (uint16_t)strtoul(worker, &dot, 10);
	record->thread = (uint16_t)strtoul(dot + 1, NULL, 10);
	record->ordinal = (uint32_t)strtoul(ordinal, NULL, 10);
	record->time = records->now;
	record->age = records->monotonic - (int64_t)strtoull(start, NULL, 10) - EARLIER;
	records->count++;
	return true;
}

/* Reads the next span of @run, which has its tags in this order. */
static bool read_span(struct records *records, struct run *run)
{
	const char *worker = take_tag(run, "\0\0\0\6worker", 10);
	const char *ordinal = worker ? take_tag(run, "\0\0\0\7ordinal", 11) : NULL;
	const char *start = ordinal ? take_tag(run, "\0\0\0\5start", 9) : NULL;

	return add_record(records, worker, ordinal, start);
}

/* Reads the span that is all of @run, with its tags in any order, as SDKs have them. */
static bool read_one(struct records *records, const struct run *run)
{
	struct run of[] = {*run, *run, *run};

	return add_record(records, take_tag(&of[0], "\0\0\0\6worker", 10),
		take_tag(&of[1], "\0\0\0\7ordinal", 11), take_tag(&of[2], "\0\0\0\5start", 9));
}

/* Whether a span is of another load than spanload. */
static bool is_other(struct run run)
{
	return !take_tag(&run, "\0\0\0\6worker", 10);
}

/* Room for the spans of a call that came now. */
static struct records begin(uint32_t count)
{
	return (struct records){
		.list = calloc((size_t)count + 1, sizeof(struct record)),
		.now = read_clock(CLOCK_REALTIME),
		.monotonic = read_clock(CLOCK_MONOTONIC),
	};
}

/* Writes them, all at once; @good: the call was one. */
static bool keep(struct records *records, bool good)
{
	size_t bytes = records->count * sizeof(*records->list);

	good = good && write(file, records->list, bytes) == (ssize_t)bytes;
	free(records->list);
	return good;
}

/* One that was killed may have written part of a record, which it has not answered for. */
static int open_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

	return fd >= 0 && ftruncate(fd, size - size % (off_t)sizeof(struct record)) == 0 ? fd : -1;
}

/* Scribe */

static bool keep_call(const uint8_t *call, size_t size)
{
	static __thread uint8_t span[1 << 20];
	struct run run = {call + HEAD, call + size}, category, message;
	uint32_t count = get_u32(call + HEAD - 4);
	struct records records = begin(count);
	bool good = true;

	for (uint32_t i = 0; i < count && good; i++) {
		struct run one = {span, span};

		good = take_string(&run, &category) && take_string(&run, &message) && run.at++ < run.end &&
		       (size_t)(message.end - message.at) < sizeof(span);
		if (!good)
			break;
		one.end += decode_base64(span, &message);
		span[one.end - span] = 0;
		good = is_other(one) || read_one(&records, &one);
	}
	return keep(&records, good);
}

/* Sends @reply with the size of its frame before it. */
static bool send_frame(int fd, const uint8_t *call, uint8_t *reply, size_t size)
{
	uint32_t frame = htonl((uint32_t)size - 4);

	memcpy(reply, &frame, 4);
	memcpy(reply + 15, call + SEQID_AT, 4);
	return send(fd, reply, size, MSG_NOSIGNAL) == (ssize_t)size;
}

static bool answer_call(int fd, const uint8_t *call, int mood)
{
	uint8_t result[] = {
		0, 0, 0, 0, 0x80, 1, 0, 2, 0, 0, 0, 3, 'L', 'o', 'g', 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0};
	uint8_t exception[] = {0, 0, 0, 0, 0x80, 1, 0, 3, 0, 0, 0, 3, 'L', 'o', 'g', 0, 0, 0,
		0, /* 1: words */
		11, 0, 1, 0, 0, 0, 2, 'n', 'o', /* 2: INTERNAL_ERROR */ 8, 0, 2, 0, 0, 0, 6, 0};

	if (mood == SIGUSR2)
		return send_frame(fd, call, exception, sizeof(exception));
	result[sizeof(result) - 2] = mood == SIGUSR1; /* TRY_LATER */
	return send_frame(fd, call, result, sizeof(result));
}

static bool serve_call(FILE *in)
{
	uint8_t frame[4], *call;
	uint32_t size;
	bool good;
	int mood; /* one for the whole call */

	if (fread(frame, sizeof(frame), 1, in) != 1)
		return false;
	size = get_u32(frame);
	if (size < HEAD || size > CALL_MAX)
		return false;
	call = malloc(size);
	good = fread(call, size, 1, in) == 1;
	mood = mood_now;
	if (good && mood != SIGUSR1 && mood != SIGUSR2)
		good = keep_call(call, size);
	good = good && answer_call(fileno(in), call, mood);
	free(call);
	return good;
}

/* HTTP */

static uint8_t *unzip(uint8_t *body, size_t *size)
{
	uint8_t *plain = malloc(PLAIN_MAX);
	z_stream zip = {.next_in = body, .avail_in = (uInt)*size, .next_out = plain, .avail_out = PLAIN_MAX};
	bool good = inflateInit2(&zip, GZIP_WINDOW) == Z_OK && inflate(&zip, Z_FINISH) == Z_STREAM_END;

	*size = good ? zip.total_out : 0;
	inflateEnd(&zip);
	free(body);
	return plain;
}

static bool keep_list(const uint8_t *body, size_t size)
{
	struct run run = {body + LIST_HEAD, body + size};
	uint32_t count = size > LIST_HEAD && body[0] == 12 ? get_u32(body + 1) : 0;
	struct records records = begin(count);
	bool good = count > 0;

	for (uint32_t i = 0; i < count && good; i++)
		good = read_span(&records, &run);
	/* no more of them than it says */
	return keep(&records, good && !take_tag(&run, "\0\0\0\6worker", 10));
}

static bool answer_post(int fd, int mood)
{
	char reply[128];
	const char *status = mood == SIGUSR1   ? "503 Service Unavailable"
			     : mood == SIGUSR2 ? "400 Bad Request"
					       : "202 Accepted";
	int size = snprintf(reply, sizeof(reply), "HTTP/1.1 %s\r\nContent-Length: 0\r\n\r\n", status);

	return send(fd, reply, (size_t)size, MSG_NOSIGNAL) == size;
}

/* Reads a request's head: its body's size, or 0 if it is none that has spans. */
static size_t read_head(FILE *in, bool *zipped)
{
	char line[4096];
	size_t size = 0;

	if (!fgets(line, sizeof(line), in) || strncmp(line, "POST /api/v1/spans ", 19) != 0)
		return 0;
	*zipped = false;
	while (fgets(line, sizeof(line), in) && strcmp(line, "\r\n") != 0) {
		if (strncasecmp(line, "content-length:", 15) == 0)
			size = strtoul(line + 15, NULL, 10);
		*zipped |= strncasecmp(line, "content-encoding: gzip", 22) == 0;
	}
	return size <= CALL_MAX ? size : 0;
}

static bool serve_post(FILE *in)
{
	bool zipped, good;
	size_t size = read_head(in, &zipped);
	uint8_t *body;
	int mood;

	if (!size)
		return false;
	body = malloc(size + 1);
	good = fread(body, size, 1, in) == 1;
	mood = mood_now;
	if (good && mood != SIGUSR1 && mood != SIGUSR2) {
		if (zipped)
			body = unzip(body, &size);
		good = keep_list(body, size);
	}
	free(body);
	return good && answer_post(fileno(in), mood);
}

/* The first byte tells which it is: frames are smaller than 'P' would have it. */
static void *serve(void *data)
{
	FILE *in = fdopen((int)(intptr_t)data, "r");
	int first = getc(in);

	if (ungetc(first, in) != EOF)
		while (first == 'P' ? serve_post(in) : serve_call(in))
			;
	fclose(in);
	return NULL;
}

static void on_signal(int number)
{
	mood_now = number;
}

static void take_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1, fd;
	pthread_t id;

	if (argc != 4) {
		fprintf(stderr, "usage: idsink PORT FILE ADDRESS\n");
		return 64;
	}
	take_signals();
	file = open_file(argv[2]);
	address.sin_port = htons((uint16_t)atoi(argv[1]));
	address.sin_addr.s_addr = inet_addr(argv[3]);
	setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (file < 0 || bind(listener, (struct sockaddr *)&address, sizeof(address)) < 0 ||
		listen(listener, 16) < 0) {
		perror("idsink");
		return 1;
	}
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		pthread_create(&id, NULL, serve, (void *)(intptr_t)fd);
		pthread_detach(id);
	}
	return 1;
}
