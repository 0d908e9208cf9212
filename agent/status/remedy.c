/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/remedy.h"

#include <glib.h>

#include "config/outputtype.h"

#define OWN_DIRECTORY                                                                                        \
	"make it the agent's (install -d -o blkin -g blkin -m 2750), outside /var/lib/blkin also with "      \
	"ReadWritePaths= (systemctl edit blkin-agent) and a restart, or correct `directory` in [output]; "   \
	"`blkin validate` says what is missing"

/* What to do about a fault, unless the type of output knows better. "[output]" stands for the output's
 * section. */
static const struct remedy {
	const char *code, *fix;
} remedies[FAULTS] = {
	[FAULT_CONNECT_REFUSED] = {"output-refused",
		"start the collector there, or correct `server` in [output]: it names the collector's host "
		"and " REMEDY_PORT},
	[FAULT_CONNECT_TIMEOUT] = {"output-timeout",
		"check that the host is up, and that no firewall drops the packets"},
	[FAULT_NO_ADDRESS] = {"output-dns",
		"correct the host's name in `server` of [output], or repair the name service"},
	[FAULT_UNREACHABLE] = {"output-unreachable",
		"check that the host is up, and that there is a route to it"},
	[FAULT_CONNECT] = {"output", "check `server` in [output], and the collector's log"},
	[FAULT_PROXY] = {"output-proxy",
		"check that the proxy is up, and that `proxy` in [output] names the host and port of an HTTP "
		"proxy"},
	[FAULT_PROXY_DENIES] = {"output-proxy",
		"allow this node to CONNECT to the server's port, in the proxy, or name a port that it "
		"allows in `server` of [output]"},
	[FAULT_PROXY_BEYOND] = {"output-proxy",
		"check `server` in [output], and that the collector is up: the proxy looks up its name, and "
		"has to reach it; the proxy's log says more"},
	[FAULT_PROXY_LOGIN] = {"output-proxy-login",
		"name a user of the proxy in `proxy` of [output], as http://USER@HOST:PORT, and the file "
		"with its password in `proxy-password-file`"},
	[FAULT_TLS_CERTIFICATE] = {"output-tls",
		"give the server a valid certificate, or name the authority that signed it in `tls-ca` of "
		"[output]"},
	[FAULT_TLS_NAME] = {"output-tls",
		"use a name that the certificate has in `server` of [output], or give the server a "
		"certificate for this name"},
	[FAULT_TLS_OWN] = {"output-tls",
		"set `tls-certificate` and `tls-key` in [output] to a certificate that the server accepts"},
	[FAULT_TLS_ASKED] = {"output-tls",
		"set `tls-certificate` and `tls-key` in [output] to a certificate that the server accepts; "
		"if it does accept it, its log says why it closes"},
	[FAULT_TLS_FILES] = {"output-tls-files", "correct the file's name in [output], or let the agent's "
						 "user read it (`blkin validate` tries "
						 "it): the agent goes on by itself once it can"},
	[FAULT_TLS_NONE] = {"output-tls",
		"name the server's TLS port in `server` of [output], or set `tls = no`"},
	[FAULT_TLS] = {"output-tls", "check the TLS settings of the server, and that `server` in [output] "
				     "names its TLS port; its log may say more"},
	[FAULT_HEADERS] = {"output-headers",
		"correct `headers-file` in [output], or let the agent's user read it: the agent goes on by "
		"itself once it can"},
	[FAULT_LIBRARY] = {"output-library",
		"install it (apt install librdkafka1); the agent goes on by itself once it is there"},
	[FAULT_PASSWORD] = {"output-password",
		"correct `proxy-password-file` in [output], or let the agent's user read it: the agent goes "
		"on by itself once it can"},
	[FAULT_FILE_FOLDER] = {"output-directory", OWN_DIRECTORY},
	[FAULT_FILE_ACCESS] = {"output-access", OWN_DIRECTORY},
	[FAULT_NO_ANSWER] = {"output-timeout",
		"check that the collector is not overloaded, and that `server` in [output] "
		"names " REMEDY_PORT},
	[FAULT_CLOSED] = {"output-closed",
		"read the collector's log, and check that `server` in [output] names " REMEDY_PORT},
	[FAULT_GARBLED] = {"output-protocol",
		"check that `server` in [output] names the collector's host and " REMEDY_PORT},
	[FAULT_IS_HTTP] = {"output-protocol",
		"correct `server` in [output], so that it names " REMEDY_PORT
		", or set `type = http` (Zipkin) or `type = otlp` (OpenTelemetry)"},
	[FAULT_NOT_HTTP] = {"output-protocol", "correct `server` in [output], so that it names " REMEDY_PORT
					       ", or set `type = scribe` if this is a Scribe port"},
	[FAULT_IS_GRPC] = {"output-protocol", "correct `server` in [output], so that it names " REMEDY_PORT},
	[FAULT_TRY_LATER] = {"output-busy",
		"the agent tries again by itself; if this lasts, the collector or its storage is overloaded: "
		"read its log"},
	[FAULT_REFUSES_ALL] = {"output-refuses-all",
		"read the collector's log, and check `path`, `compression` and `tls` in [output]"},
	[FAULT_PERMISSION] = {"output-permission",
		"if the collector asks for a token, put its header into the file that `headers-file` in "
		"[output] names; otherwise allow this node to send spans, in the collector or in the proxy "
		"before it"},
	[FAULT_LOGIN] = {"output-login", "correct `sasl`, `sasl-user` and `sasl-password-file` in [output], "
					 "and `tls`, as the brokers' "
					 "listener asks for; the agent goes on by itself once it can"},
	[FAULT_TOPIC] = {"output-topic", "make the topic (kafka-topics.sh --create), or correct `topic` in "
					 "[output]; the agent goes on "
					 "by itself once it is there"},
	[FAULT_PATH] = {"output-path",
		"correct `path` in [output] (" REMEDY_PATH "), and check that `server` names " REMEDY_PORT},
	[FAULT_PAGE] = {"output-path",
		"correct `server` and `path` in [output]: a web server answers there. `server` names the "
		"collector's host and " REMEDY_PORT ", `path` where it takes spans (" REMEDY_PATH ")"},
	[FAULT_FORMAT] = {"output-format",
		"set `compression = none` in [output], or a `format` that the collector takes"},
	[FAULT_ENCODING] = {"output-format",
		"set `compression` in [output] to what the collector takes: mostly gzip, always none"},
	[FAULT_UNFIT] = {"output-unfit", "check `server` and `path` in [output]: `server` names the "
					 "collector's host and " REMEDY_PORT},
	[FAULT_FILE_ROOM] = {"output-disk-full",
		"make room there, or lower `total-size` in [output]; the agent goes on by itself once there "
		"is room"},
	[FAULT_FILE] = {"output-file", "repair the disk, or set another `directory` in [output]"},
};

/* What speaks of spans, of another lane's items. */
static void say_kind(GString *text, enum kind kind)
{
	g_autofree char *said = kind_text(kind, text->str);

	g_string_assign(text, said);
}

/* Whether nobody asked for the output: it is there by default, beside those that somebody named. */
static bool is_by_default(const struct status *status, const struct output_config *is)
{
	return is && !strcmp(is->section, "output") && !config_output_is_set(is, "server") &&
	       status->config->outputs->len > 1;
}

/* An output that no section has any more: it is as its uplink. */
static const struct output_type *type_of(const struct output_config *is, const struct output_state *output)
{
	return is ? output_type_of(is) : output_type_named(output->uplink.type);
}

/* The type's own words for its port, and for what else it calls otherwise. */
static void say_where(
	GString *fix, const struct output_type *type, const struct output_config *is, enum kind kind)
{
	if (type->port_words)
		g_string_replace(fix, REMEDY_PORT, type->port_words, 0);
	if (is && type->reword)
		type->reword(fix, is, kind);
	/* where nobody has a word */
	g_string_replace(fix, REMEDY_PORT, "its port", 0);
	g_string_replace(fix, REMEDY_PATH, "Zipkin: /api/v1/spans", 0);
}

/* What to do about the fault, in the words of the output's section. */
char *remedy_describe(const struct status *status, const struct output_state *output, enum fault fault)
{
	const struct output_config *is = config_output(status->config, output->name);
	const struct output_type *type = type_of(is, output);
	const char *own = type->remedies ? type->remedies[fault] : NULL;
	GString *fix = g_string_new(own ? own : remedies[fault].fix);
	g_autofree char *section = g_strdup_printf("[%s]", is ? is->section : "output");

	say_where(fix, type, is, output->kind);
	if (is && !is->tls && !own &&
		(fault == FAULT_CLOSED || fault == FAULT_GARBLED || fault == FAULT_NOT_HTTP))
		g_string_append(fix, "; if it is a port with TLS, set `tls = yes`");
	if (is && *is->proxy && !is->tls && fault > FAULT_NO_ANSWER && fault != FAULT_PROXY_LOGIN)
		g_string_append(fix, "; or the answer is the proxy's own: its log says more");
	if (is_by_default(status, is))
		g_string_append(fix, "; or set `type = none` in [output], if only the others are to deliver");
	say_kind(fix, output->kind);
	g_string_replace(fix, "[output]", section, 0);
	return g_string_free(fix, FALSE);
}

const char *remedy_code(enum fault fault)
{
	return remedies[fault].code;
}
