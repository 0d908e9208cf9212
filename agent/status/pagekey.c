/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/pagekey.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib.h>

#include "base/log.h"
#include "base/regularfile.h"

#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/* The kernel has random bytes by now: LTTng's daemons and systemd needed some long ago. */
static void make(struct pagekey *key)
{
	uint8_t bytes[PAGEKEY_SIZE];

	while (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
		;
	for (int i = 0; i < PAGEKEY_SIZE; i++)
		key->token[i] = LETTERS[bytes[i] & 63];
	key->token[PAGEKEY_SIZE] = '\0';
}

/* One that others can write, or everybody can read, is no secret. */
static bool read_key(struct pagekey *key, const char *path)
{
	int fd = regularfile_open(path, O_RDONLY, 0);
	char text[PAGEKEY_SIZE + 2];
	struct stat file;
	ssize_t size = -1;

	if (fd < 0 && errno != ENOENT)
		log_warning("the page's token in %s is not used: %s; a new one takes its place", path,
			regularfile_error(errno));
	if (fd < 0)
		return false;
	if (fstat(fd, &file) == 0 && file.st_uid == geteuid() && !(file.st_mode & (S_IWGRP | S_IRWXO)))
		size = read(fd, text, sizeof(text));
	close(fd);
	if (size < PAGEKEY_SIZE)
		return false;
	memcpy(key->token, text, PAGEKEY_SIZE);
	key->token[PAGEKEY_SIZE] = '\0';
	return strspn(key->token, LETTERS) == PAGEKEY_SIZE;
}

/* A new file in place of the old one, so that nobody has it open. */
static bool write_key(const struct pagekey *key, const char *path)
{
	g_autofree char *new = g_strconcat(path, ".new", NULL), *line = g_strconcat(key->token, "\n", NULL);
	int fd, error;
	bool good;

	unlink(new);
	fd = open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return false;
	good = fchmod(fd, 0640) == 0 && write(fd, line, PAGEKEY_SIZE + 1) == PAGEKEY_SIZE + 1 &&
	       rename(new, path) == 0;
	error = errno;
	close(fd);
	if (!good)
		unlink(new);
	errno = error;
	return good;
}

static void name_cookie(struct pagekey *key)
{
	g_autofree char *hash = g_compute_checksum_for_string(G_CHECKSUM_SHA256, key->token, -1);

	snprintf(key->cookie, sizeof(key->cookie), PAGEKEY_COOKIE "%.8s", hash);
}

void pagekey_open(struct pagekey *key, const char *state_directory)
{
	g_autofree char *path = g_build_filename(state_directory, PAGEKEY_FILE, NULL);

	if (!read_key(key, path)) {
		make(key);
		if (!write_key(key, path))
			log_warning("cannot keep the page's token in %s: %s; it changes with the next start",
				path, g_strerror(errno));
	}
	name_cookie(key);
}

bool pagekey_fits(const struct pagekey *key, const char *text)
{
	volatile unsigned char differs = 0;

	if (!text || strlen(text) != PAGEKEY_SIZE)
		return false;
	for (int i = 0; i < PAGEKEY_SIZE; i++)
		differs |= (unsigned char)(key->token[i] ^ text[i]);
	return !differs;
}
