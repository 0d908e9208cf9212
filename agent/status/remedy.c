/* SPDX-License-Identifier: BSD-2-Clause */
#include "status/remedy.h"

#include <glib.h>

#define SCRIBE_PORT "its Scribe port (Zipkin: 9410)"
#define HTTP_PORT "its HTTP port (Zipkin: 9411)"
#define OTLP_PORT "its HTTP port (OpenTelemetry: 4318; 4317 is gRPC's)"
#define HTTP_PATH "Zipkin: /api/v1/spans"
#define KAFKA_PORT "the port that its listener has (9092 mostly)"
#define OWN_DIRECTORY                                                                                        \
	"make it the agent's (install -d -o blkin -g blkin -m 2750), outside /var/lib/blkin also with "      \
	"ReadWritePaths= (systemctl edit blkin-agent) and a restart, or correct `directory` in [output]; "   \
	"`blkin validate` says what is missing"

/* What to do about a fault. "[output]" stands for the output's section. */
static const struct remedy {
	const char *code, *fix;
	const char
		*http; /* for `type = http` and, with its own port and path, `type = otlp`; NULL: the same */
	const char *kafka; /* for `type = kafka`; NULL: the same */
	const char *otlp;  /* where it is not the same as over HTTP */
} remedies[FAULTS] = {
	[FAULT_CONNECT_REFUSED] = {"output-refused",
		"start the collector there (Zipkin: COLLECTOR_SCRIBE_ENABLED=true), or correct `server` in "
		"[output]: it names the collector's host and " SCRIBE_PORT,
		"start the collector there, or correct `server` in [output]: it names the collector's host "
		"and " HTTP_PORT,
		"start the broker there, or correct `brokers` in [output]: each is a broker's host "
		"and " KAFKA_PORT},
	[FAULT_CONNECT_TIMEOUT] = {"output-timeout",
		"check that the host is up, and that no firewall drops the packets"},
	[FAULT_NO_ADDRESS] = {"output-dns",
		"correct the host's name in `server` of [output], or repair the name service", NULL,
		"correct the host's name in `brokers` of [output], or in the brokers' advertised.listeners, "
		"or "
		"repair the name service"},
	[FAULT_UNREACHABLE] = {"output-unreachable",
		"check that the host is up, and that there is a route to it"},
	[FAULT_CONNECT] = {"output", "check `server` in [output], and the collector's log", NULL,
		"check `brokers` in [output], and the brokers' log"},
	[FAULT_PROXY] = {"output-proxy", NULL,
		"check that the proxy is up, and that `proxy` in [output] names the host and port of an HTTP "
		"proxy"},
	[FAULT_PROXY_DENIES] = {"output-proxy", NULL,
		"allow this node to CONNECT to the server's port, in the proxy, or name a port that it "
		"allows "
		"in `server` of [output]"},
	[FAULT_PROXY_BEYOND] = {"output-proxy", NULL,
		"check `server` in [output], and that the collector is up: the proxy looks up its name, and "
		"has to reach it; the proxy's log says more"},
	[FAULT_PROXY_LOGIN] = {"output-proxy-login", NULL,
		"name a user of the proxy in `proxy` of [output], as http://USER@HOST:PORT, and the file "
		"with "
		"its password in `proxy-password-file`"},
	[FAULT_TLS_CERTIFICATE] = {"output-tls",
		"give the server a valid certificate, or name the authority that signed it in `tls-ca` of "
		"[output]",
		NULL,
		"give the brokers certificates that are valid for their names in advertised.listeners, or "
		"name the "
		"authority that signed them in `tls-ca` of [output]"},
	[FAULT_TLS_NAME] = {"output-tls",
		"use a name that the certificate has in `server` of [output], or give the server a "
		"certificate for this name",
		NULL, "give the brokers certificates for the names in their advertised.listeners"},
	[FAULT_TLS_OWN] = {"output-tls",
		"set `tls-certificate` and `tls-key` in [output] to a certificate that the server accepts"},
	[FAULT_TLS_FILES] = {"output-tls-files", "correct the file's name in [output], or let the agent's "
						 "user read it (`blkin validate` tries it): "
						 "the agent goes on by itself once it can"},
	[FAULT_TLS_NONE] = {"output-tls",
		"name the server's TLS port in `server` of [output], or set `tls = no`", NULL,
		"name the port of a listener with TLS in `brokers` of [output], or set `tls = no`"},
	[FAULT_TLS] = {"output-tls", "check the TLS settings of the server: it needs TLS 1.2 or later"},
	[FAULT_HEADERS] = {"output-headers", NULL,
		"correct `headers-file` in [output], or let the agent's user read it: the agent goes on by "
		"itself once it can"},
	[FAULT_LIBRARY] = {"output-library",
		"install it (apt install librdkafka1); the agent goes on by itself once it is there"},
	[FAULT_PASSWORD] = {"output-password",
		"correct `sasl-password-file` in [output], or let the agent's user read it: the agent goes "
		"on "
		"by itself once it can",
		"correct `proxy-password-file` in [output], or let the agent's user read it: the agent goes "
		"on by itself once it can"},
	[FAULT_FILE_FOLDER] = {"output-directory", OWN_DIRECTORY},
	[FAULT_FILE_ACCESS] = {"output-access", OWN_DIRECTORY},
	[FAULT_NO_ANSWER] = {"output-timeout",
		"check that the collector is not overloaded, and that `server` in [output] "
		"names " SCRIBE_PORT,
		"check that the collector is not overloaded, and that `server` in [output] names " HTTP_PORT,
		"check that the brokers are up and not overloaded, that as many replicas are in sync as the "
		"topic asks for (min.insync.replicas), and that their advertised.listeners can be reached "
		"from "
		"here"},
	[FAULT_CLOSED] = {"output-closed",
		"read the collector's log, and check that `server` in [output] names " SCRIBE_PORT,
		"read the collector's log, and check that `server` in [output] names " HTTP_PORT,
		"read the brokers' log, and check `tls` and `sasl` in [output]: the listener behind "
		"`brokers` "
		"may ask for another protocol"},
	[FAULT_GARBLED] = {"output-protocol",
		"check that `server` in [output] names the collector's host and " SCRIBE_PORT,
		"check that `server` in [output] names the collector's host and " HTTP_PORT,
		"check that `brokers` in [output] names " KAFKA_PORT},
	[FAULT_IS_HTTP] = {"output-protocol",
		"correct `server` in [output], so that it names " SCRIBE_PORT
		", or set `type = http` (Zipkin) or `type = otlp` (OpenTelemetry)"},
	[FAULT_NOT_HTTP] = {"output-protocol", NULL,
		"correct `server` in [output], so that it names " HTTP_PORT
		", or set `type = scribe` if this is a Scribe port"},
	[FAULT_IS_GRPC] = {"output-protocol", NULL,
		"correct `server` in [output], so that it names " HTTP_PORT},
	[FAULT_TRY_LATER] = {"output-busy",
		"the agent tries again by itself; if this lasts, the collector or its storage is overloaded: "
		"read its log",
		NULL,
		"the agent tries again by itself; if this lasts, brokers are missing: see which partitions "
		"of the "
		"topic have no leader, or too few replicas in sync (kafka-topics.sh --describe)"},
	[FAULT_REFUSES_ALL] = {"output-refuses-all",
		"read the collector's log, and check `category` in [output]",
		"read the collector's log, and check `path`, `compression` and `tls` in [output]",
		"compare `batch-size` in [output] with the topic's max.message.bytes, and read the brokers' "
		"log"},
	[FAULT_PERMISSION] = {"output-permission", NULL,
		"if the collector asks for a token, put its header into the file that `headers-file` in "
		"[output] "
		"names; otherwise allow this node to send spans, in the collector or in the proxy before it",
		"allow the agent's user of SASL or of its certificate to write to the topic, and, before "
		"Kafka 2.8, "
		"IdempotentWrite on the cluster (kafka-acls.sh)"},
	[FAULT_LOGIN] = {"output-login",
		"correct `sasl`, `sasl-user` and `sasl-password-file` in [output], and "
		"`tls`, as the brokers' listener asks for; the agent goes on by "
		"itself once it can"},
	[FAULT_TOPIC] = {"output-topic", "make the topic (kafka-topics.sh --create), or correct `topic` in "
					 "[output]; the agent goes on by "
					 "itself once it is there"},
	[FAULT_PATH] = {"output-path", NULL,
		"correct `path` in [output] (" HTTP_PATH "), and check that `server` names " HTTP_PORT},
	[FAULT_PAGE] = {"output-path", NULL,
		"correct `server` and `path` in [output]: a web server answers there. `server` names the "
		"collector's host and " HTTP_PORT ", `path` where it takes spans (" HTTP_PATH ")"},
	[FAULT_FORMAT] = {"output-format", NULL,
		"set `compression = none` in [output], or a `format` that the collector takes", NULL,
		"set `compression` in [output] to gzip or none, and check that `path` is where the collector "
		"takes OTLP (" HTTP_PATH ")"},
	[FAULT_ENCODING] = {"output-format", NULL,
		"set `compression` in [output] to what the collector takes: mostly gzip, always none",
		"set `compression` in [output] to what the brokers take: gzip or none"},
	[FAULT_UNFIT] = {"output-unfit", NULL,
		"check `server` and `path` in [output]: `server` names the collector's host and " HTTP_PORT,
		"read the brokers' log, and check `brokers` in [output]; the agent goes on by itself once it "
		"can"},
	[FAULT_FILE_ROOM] = {"output-disk-full", "make room there, or lower `total-size` in [output]; the "
						 "agent goes on by itself once there is "
						 "room"},
	[FAULT_FILE] = {"output-file", "repair the disk, or set another `directory` in [output]"},
};

/* What the remedies say of HTTP, in the words of the output's type and format. */
static void say_where(GString *fix, const struct output_config *is, enum kind kind)
{
	if (is->type == CONFIG_OUTPUT_OTLP) {
		g_string_replace(fix, HTTP_PORT, OTLP_PORT, 0);
		g_string_replace(fix, HTTP_PATH,
			kind == KIND_SPANS ? "OpenTelemetry: /v1/traces" : "OpenTelemetry: /v1/logs", 0);
		if (kind != KIND_SPANS)
			g_string_replace(fix, "`path`", "`logs-path`", 0);
	} else if (is->format == CONFIG_FORMAT_JSON2) {
		g_string_replace(fix, HTTP_PATH, "Zipkin: /api/v2/spans", 0);
	}
}

static const char *remedy_of(const struct remedy *remedy, const struct output_config *is)
{
	const bool otlp = is && is->type == CONFIG_OUTPUT_OTLP, http = is && is->type == CONFIG_OUTPUT_HTTP;

	if (is && is->type == CONFIG_OUTPUT_KAFKA && remedy->kafka)
		return remedy->kafka;
	if (otlp && remedy->otlp)
		return remedy->otlp;
	return ((http || otlp) && remedy->http) || !remedy->fix ? remedy->http : remedy->fix;
}

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

/* What to do about the fault, in the words of the output's section. */
char *remedy_describe(const struct status *status, const struct output_state *output, enum fault fault)
{
	const struct output_config *is = config_output(status->config, output->name);
	GString *fix = g_string_new(remedy_of(&remedies[fault], is));
	g_autofree char *section = g_strdup_printf("[%s]", is ? is->section : "output");

	if (is)
		say_where(fix, is, output->kind);
	if (is && !is->tls && is->type != CONFIG_OUTPUT_KAFKA &&
		(fault == FAULT_CLOSED || fault == FAULT_GARBLED || fault == FAULT_NOT_HTTP))
		g_string_append(fix, "; if it is a port with TLS, set `tls = yes`");
	if (is && *is->proxy && !is->tls && fault > FAULT_NO_ANSWER && fault != FAULT_PROXY_LOGIN)
		g_string_append(fix, "; or the answer is the proxy's own: its log says more");
	if (is_by_default(status, is))
		g_string_append(
			fix, "; or set `type = none` in [output], if only the other outputs are to deliver");
	say_kind(fix, output->kind);
	g_string_replace(fix, "[output]", section, 0);
	return g_string_free(fix, FALSE);
}

const char *remedy_code(enum fault fault)
{
	return remedies[fault].code;
}
