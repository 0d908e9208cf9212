/* SPDX-License-Identifier: BSD-2-Clause */
/* `type = otlp`: OpenTelemetry's protocol over HTTP. */
#include "config/check.h"
#include "config/keys.h"
#include "config/outputtype.h"

static const struct output_advice keys_meant[] = {{"|brokers|", "write `server`"}, {0}};

static const struct output_port ports[] = {
	{4317, "which is usually OTLP's gRPC port; its HTTP port is usually 4318"},
	{9410, "which is usually Zipkin's Scribe port: that takes `type = scribe`"},
	{9411, "which is usually Zipkin's HTTP port: that takes `type = http`"},
	{0},
};

static const char *const remedies[FAULTS] = {
	[FAULT_FORMAT] =
		"set `compression` in [output] to gzip or none, and check that `path` is where the collector "
		"takes OTLP (" REMEDY_PATH ")",
};

static void settle(const struct config *config, struct output_config *output)
{
	(void)config;
	output_type_default(output, "server", "127.0.0.1:4318");
	output_type_default(output, "path", "/v1/traces");
	/* of which one has no choice */
	output_type_default(output, "format", "otlp");
}

static int check(const struct config *config, const struct output_config *output)
{
	return check_circle(config, output, config->input[INPUT_OTLP_HTTP]);
}

static void reword(GString *remedy, const struct output_config *output, enum kind kind)
{
	(void)output;
	g_string_replace(remedy, REMEDY_PATH,
		kind == KIND_SPANS ? "OpenTelemetry: /v1/traces" : "OpenTelemetry: /v1/logs", 0);
	if (kind != KIND_SPANS)
		g_string_replace(remedy, "`path`", "`logs-path`", 0);
}

const struct output_type output_type_otlp = {
	.name = "otlp",
	.also = "|opentelemetry|otel|grpc|jaeger|tempo|",
	.takes = CONFIG_TAKES_SPANS | CONFIG_TAKES_EVENTS | CONFIG_TAKES_MESSAGES,
	.keys = KEYS_ANY | KEYS_DELIVERS | KEYS_CONNECTS | KEYS_SERVERS | KEYS_POSTS | KEYS_COMPRESSES |
		KEYS_LOGS,
	.place = "server",
	.port = "4318",
	.settle = settle,
	.intake = "otlp",
	.check = check,
	.keys_meant = keys_meant,
	.ports = ports,
	.schemes = "|grpc|grpcs|otlp|",
	.scheme_note = ", and OTLP over gRPC is not supported: use the port for HTTP, usually 4318",
	.url_path = "/v1/traces",
	.remedies = remedies,
	.port_words = "its HTTP port (OpenTelemetry: 4318; 4317 is gRPC's)",
	.reword = reword,
};
