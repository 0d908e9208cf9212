/* SPDX-License-Identifier: BSD-2-Clause */
#define _GNU_SOURCE /* major, minor */
#include "session/registering.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <netinet/tcp.h>

#include "base/clock.h"
#include "session/sessiond.h"

#define PROGRAMS_SOCKET "lttng-ust-sock-"
/* What the kernel makes of an answer is no longer. */
#define ANSWER_MAX 32768
/* A kernel that cannot tell starts modprobe each time that it is asked. */
#define REFUSED_PAUSE_NS (600 * NS_PER_SECOND)

struct question {
	struct nlmsghdr head;
	struct unix_diag_req of;
};

/* A socket, as the kernel tells of it. */
struct told {
	uint32_t number;
	const struct unix_diag_vfs *file; /* NULL: it has none */
	const uint32_t *waiting;          /* at its other ends, of who has not been accepted */
	int count;
	uint32_t peer;
};

typedef void visit_told(const struct told *told, void *data);

static void read_attribute(const struct rtattr *attribute, struct told *told)
{
	const void *value = RTA_DATA(attribute);
	size_t size = RTA_PAYLOAD(attribute);

	if (attribute->rta_type == UNIX_DIAG_VFS && size >= sizeof(*told->file))
		told->file = value;
	else if (attribute->rta_type == UNIX_DIAG_PEER && size >= sizeof(told->peer))
		memcpy(&told->peer, value, sizeof(told->peer));
	else if (attribute->rta_type == UNIX_DIAG_ICONS) {
		told->waiting = value;
		told->count = (int)(size / sizeof(*told->waiting));
	}
}

static void read_socket(const struct nlmsghdr *message, visit_told *visit, void *data)
{
	const struct unix_diag_msg *is = NLMSG_DATA(message);
	const struct rtattr *attribute = (const struct rtattr *)(is + 1);
	int left = (int)message->nlmsg_len - (int)NLMSG_LENGTH(sizeof(*is));
	struct told told = {0};

	if (left < 0)
		return;
	told.number = is->udiag_ino;
	for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left))
		read_attribute(attribute, &told);
	visit(&told, data);
}

/* One answer, of several messages; @ended: it is the last one. Returns false if it tells of an error. */
static bool read_answer(const char *answer, int size, visit_told *visit, void *data, bool *ended)
{
	const struct nlmsghdr *message = (const struct nlmsghdr *)(const void *)answer;

	for (; NLMSG_OK(message, (unsigned)size); message = NLMSG_NEXT(message, size)) {
		*ended |= message->nlmsg_type == NLMSG_DONE || !(message->nlmsg_flags & NLM_F_MULTI);
		if (message->nlmsg_type == NLMSG_ERROR)
			return false;
		if (message->nlmsg_type == SOCK_DIAG_BY_FAMILY)
			read_socket(message, visit, data);
	}
	return true;
}

/* Asks the kernel for the socket that has the @number, or, if it is 0, for all that are in one of @states. */
static bool ask(uint32_t number, uint32_t states, uint32_t show, visit_told *visit, void *data)
{
	const struct question question = {.head = {.nlmsg_len = sizeof(question),
						  .nlmsg_type = SOCK_DIAG_BY_FAMILY,
						  .nlmsg_flags = NLM_F_REQUEST | (number ? 0 : NLM_F_DUMP)},
		.of = {.sdiag_family = AF_UNIX,
			.udiag_states = states,
			.udiag_ino = number,
			.udiag_show = show,
			.udiag_cookie = {~0u, ~0u}}};
	int netlink = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
	g_autofree char *answer = g_malloc(ANSWER_MAX);
	bool good = netlink >= 0 && send(netlink, &question, sizeof(question), 0) == sizeof(question);
	bool ended = false;

	while (good && !ended) {
		ssize_t size = recv(netlink, answer, ANSWER_MAX, MSG_DONTWAIT);

		good = size > 0 && read_answer(answer, (int)size, visit, data, &ended);
	}
	if (netlink >= 0)
		close(netlink);
	return good;
}

/* The files of the sockets that programs connect to, of struct unix_diag_vfs. Whoever binds a socket to such
 * a path elsewhere has another file. */
static GArray *files_of(const char *tracing_group)
{
	GArray *files = g_array_new(FALSE, FALSE, sizeof(struct unix_diag_vfs));
	g_autofree char *folder = sessiond_folder(tracing_group);
	g_autoptr(GDir) dir = folder ? g_dir_open(folder, 0, NULL) : NULL;
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);
		struct unix_diag_vfs file;
		struct stat is;

		if (!g_str_has_prefix(name, PROGRAMS_SOCKET) || stat(path, &is) != 0)
			continue;
		file.udiag_vfs_ino = (uint32_t)is.st_ino;
		file.udiag_vfs_dev = major(is.st_dev) << 20 | minor(is.st_dev); /* the kernel's own */
		g_array_append_val(files, file);
	}
	return files;
}

struct search {
	GArray *files;
	uint32_t daemon;
	GArray *connections;
};

static bool is_daemons(const struct search *search, const struct told *told)
{
	for (guint i = 0; told->file && i < search->files->len; i++)
		if (!memcmp(told->file, &g_array_index(search->files, struct unix_diag_vfs, i),
			    sizeof(*told->file)))
			return true;
	return false;
}

static void note_daemon(const struct told *told, void *data)
{
	struct search *search = data;

	if (is_daemons(search, told))
		search->daemon = told->number;
}

void registering_find(struct registering *registering, const char *tracing_group, int64_t now)
{
	struct search search = {0};

	if (now < registering->ask_next)
		return;
	search.files = files_of(tracing_group);
	if (search.files->len && !ask(0, 1u << TCP_LISTEN, UDIAG_SHOW_VFS, note_daemon, &search))
		registering->ask_next = now + REFUSED_PAUSE_NS;
	g_array_unref(search.files);
	registering->daemon = search.daemon;
}

static int64_t seen_since(const struct registering *before, uint32_t socket, int64_t now)
{
	for (int i = 0; socket && i < MIN(before->waiting, REGISTERING_MAX); i++)
		if (before->sockets[i] == socket)
			return before->since[i];
	return now;
}

struct look {
	struct registering *registering;
	int64_t now;
};

static void note_waiting(const struct told *told, void *data)
{
	const struct look *look = data;
	struct registering *registering = look->registering;
	const struct registering before = *registering;

	registering->waiting = told->count;
	for (int i = 0; i < MIN(told->count, REGISTERING_MAX); i++) {
		registering->sockets[i] = told->waiting[i];
		registering->since[i] = seen_since(&before, told->waiting[i], look->now);
	}
}

void registering_look(struct registering *registering, int64_t now)
{
	struct look look = {registering, now};

	if (registering->daemon && ask(registering->daemon, ~0u, UDIAG_SHOW_ICONS, note_waiting, &look))
		return;
	registering->daemon = 0;
	registering->waiting = -1;
}

int64_t registering_since(const struct registering *registering)
{
	int64_t since = 0;

	for (int i = 0; i < MIN(registering->waiting, REGISTERING_MAX); i++)
		if (!since || registering->since[i] < since)
			since = registering->since[i];
	return since;
}

static void note_connection(const struct told *told, void *data)
{
	struct search *search = data;

	if (told->peer && is_daemons(search, told))
		g_array_append_val(search->connections, told->peer);
}

GArray *registering_connections(const char *tracing_group)
{
	struct search search = {
		.files = files_of(tracing_group), .connections = g_array_new(FALSE, FALSE, sizeof(uint32_t))};

	if (search.files->len)
		ask(0, 1u << TCP_ESTABLISHED, UDIAG_SHOW_VFS | UDIAG_SHOW_PEER, note_connection, &search);
	g_array_unref(search.files);
	return search.connections;
}
