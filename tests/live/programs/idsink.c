/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A collector for loads that are too fast for Python: takes Scribe's Log() calls, and writes to a file which
 * of spanload's spans came, and when, before it answers OK.
 *
 *     idsink PORT FILE
 *
 * A record of FILE is 16 bytes, little-endian: process and thread (16 bits each), ordinal (32), time (64, ns
 * since the epoch). It ends by a signal.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define FRAME_MAX (64 * 1024 * 1024)
#define HEAD 23 /* version, "Log", seqid, field 1: list, of struct; then the count */
#define SEQID_AT 11

struct record {
	uint16_t process, thread;
	uint32_t ordinal;
	int64_t time;
};

struct run {
	const uint8_t *at, *end;
};

static int file;

static bool take(int fd, uint8_t *to, size_t size)
{
	while (size) {
		ssize_t got = recv(fd, to, size, 0);

		if (got <= 0)
			return false;
		to += got;
		size -= (size_t)got;
	}
	return true;
}

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

/* The number that follows a tag's key in TBinary. */
static const char *find_tag(const uint8_t *span, size_t size, const char *key, size_t key_size)
{
	const uint8_t *found = memmem(span, size, key, key_size);

	/* behind the key: field 2's type, id and size */
	return found ? (const char *)found + key_size + 7 : NULL;
}

static bool read_span(struct record *record, const struct run *message)
{
	static __thread uint8_t span[1 << 20];
	const char *worker, *ordinal;
	size_t size;

	if ((size_t)(message->end - message->at) > sizeof(span))
		return false;
	size = decode_base64(span, message);
	worker = find_tag(span, size, "\0\0\0\6worker", 10);
	ordinal = find_tag(span, size, "\0\0\0\7ordinal", 11);
	if (!worker || !ordinal)
		return false;
	record->process = (uint16_t)strtoul(worker, (char **)&worker, 10);
	record->thread = (uint16_t)strtoul(worker + 1, NULL, 10);
	record->ordinal = (uint32_t)strtoul(ordinal, NULL, 10);
	return true;
}

static int64_t wall_clock(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Writes what is in a call, all at once. */
static bool keep(const uint8_t *call, size_t size)
{
	struct run run = {call + HEAD, call + size}, category, message;
	uint32_t count = get_u32(call + HEAD - 4);
	struct record *records = calloc(count + 1, sizeof(*records));
	size_t bytes = count * sizeof(*records);
	int64_t now = wall_clock();
	bool good = true;

	for (uint32_t i = 0; i < count && good; i++) {
		records[i].time = now;
		good = take_string(&run, &category) && take_string(&run, &message) && run.at++ < run.end &&
		       read_span(&records[i], &message);
	}
	good = good && write(file, records, bytes) == (ssize_t)bytes;
	free(records);
	return good;
}

static bool serve_call(int fd)
{
	uint8_t reply[] = {
		0, 0, 0, 23, 0x80, 1, 0, 2, 0, 0, 0, 3, 'L', 'o', 'g', 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0};
	uint8_t frame[4], *call;
	uint32_t size;
	bool good;

	if (!take(fd, frame, sizeof(frame)))
		return false;
	size = get_u32(frame);
	if (size < HEAD || size > FRAME_MAX)
		return false;
	call = malloc(size);
	good = take(fd, call, size) && keep(call, size);
	memcpy(reply + 15, call + SEQID_AT, 4);
	free(call);
	return good && send(fd, reply, sizeof(reply), MSG_NOSIGNAL) == (ssize_t)sizeof(reply);
}

static void *serve(void *data)
{
	int fd = (int)(intptr_t)data;

	while (serve_call(fd))
		;
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1, fd;
	pthread_t id;

	if (argc != 3) {
		fprintf(stderr, "usage: idsink PORT FILE\n");
		return 64;
	}
	file = open(argv[2], O_WRONLY | O_CREAT | O_APPEND, 0600);
	address.sin_port = htons((uint16_t)atoi(argv[1]));
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
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
