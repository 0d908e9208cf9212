/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* unshare */
#include "names.h"

#include <check.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <event2/dns.h>
#include <event2/dns_struct.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/wait.h>

/* Namespaces */

static bool write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	bool good = file && fputs(text, file) >= 0;

	return file && fclose(file) == 0 && good;
}

/* A user who is not root is it inside. */
static bool unshare_all(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char users[32], groups[32];

	snprintf(users, sizeof(users), "0 %u 1", uid);
	snprintf(groups, sizeof(groups), "0 %u 1", gid);
	if (unshare(CLONE_NEWNS | CLONE_NEWNET | (uid ? CLONE_NEWUSER : 0)) < 0)
		return false;
	return !uid ||
	       (write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/uid_map", users) &&
		       write_file("/proc/self/gid_map", groups));
}

static bool raise_loopback(void)
{
	struct ifreq loopback = {.ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	bool good = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &loopback) == 0;

	close(fd);
	return good;
}

/* What the process sees at @path from here on. */
static bool replace_file(const char *path, const char *text)
{
	char other[] = "/tmp/blkin-names-XXXXXX";
	int fd = mkstemp(other);
	bool good = fd >= 0 && write_file(other, text) && mount(other, path, NULL, MS_BIND, NULL) == 0;

	close(fd);
	unlink(other);
	return good;
}

static bool isolate(void)
{
	return unshare_all() && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 && raise_loopback() &&
	       replace_file("/etc/nsswitch.conf", "hosts: files dns\n") &&
	       replace_file("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:1\n");
}

bool names_possible(void)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		_exit(isolate() ? 0 : 1);
	return waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void names_isolate(void)
{
	ck_assert_msg(isolate(), "no namespaces");
}

/* The server */

static void answer(
	struct names *names, struct evdns_server_request *request, struct evdns_server_question *question)
{
	bool about_ipv4 = question->type == EVDNS_TYPE_A;

	if (about_ipv4)
		names->questions++;
	/* One at a time: libevent would put several into one record, which only itself understands. */
	for (int i = 0; about_ipv4 && !names->error && i < 4 && names->addresses[i]; i++)
		evdns_server_request_add_a_reply(request, question->name, 1, &names->addresses[i], 60);
	if (question->type == EVDNS_TYPE_AAAA && names->ipv6 && !names->error)
		evdns_server_request_add_aaaa_reply(request, question->name, 1, names->ipv6, 60);
	/* An empty answer by nobody in charge would send the C library to the next server. */
	evdns_server_request_set_flags(request, EVDNS_FLAGS_AA);
	evdns_server_request_respond(request, names->error);
}

static void on_question(struct evdns_server_request *request, void *data)
{
	struct names *names = data;
	struct evdns_server_question *question = request->questions[0];

	ck_assert_int_eq(request->nquestions, 1);
	if (names->deaf || (names->deaf_ipv6 && question->type == EVDNS_TYPE_AAAA))
		evdns_server_request_drop(request);
	else
		answer(names, request, question);
}

void names_open(struct names *names, struct event_base *base, const char *first)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(53), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	memset(names, 0, sizeof(*names));
	names->socket = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
	ck_assert_int_eq(bind(names->socket, (struct sockaddr *)&address, sizeof(address)), 0);
	names->server = evdns_add_server_port_with_base(base, names->socket, 0, on_question, names);
	inet_pton(AF_INET, first, &names->addresses[0]);
}

void names_close(struct names *names)
{
	evdns_close_server_port(names->server);
	close(names->socket);
}
